// Errors as HubSpot answers them.
import { randomUUID } from 'node:crypto'
import type { Json } from './records.ts'
import { Refusal, type Reply } from './reply.ts'

export const errorReply = (status: number, category: string, message: string): Reply => ({
	status,
	json: { status: 'error', message, correlationId: randomUUID(), category },
})

export const invalid = (message: string): Refusal => new Refusal(errorReply(400, 'VALIDATION_ERROR', message))

export const notFound = (): Refusal => new Refusal(errorReply(404, 'OBJECT_NOT_FOUND', 'Object not found.'))

export function invalidProperty(name: string, message: string, code: string): Refusal {
	const detail = JSON.stringify([{ isValid: false, message, error: code, name }])
	const { status, json } = errorReply(400, 'VALIDATION_ERROR', `Property values were not valid: ${detail}`)
	const errors = [{ message, code, context: { propertyName: [name] } }]
	return new Refusal({ status, json: { ...(json as Json), errors } })
}
