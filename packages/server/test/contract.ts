// Checks an answer against the contract: its status and content type are documented, its required headers are there, and its
// body fits the schema. Keeps what was answered, so that every-operation.api.test.ts finds what was not.
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { absolute, newAjv } from '../src/contract/ajv.ts'
import { contractOperations, documentedOf, schemas, sealed } from '../src/contract/document.ts'
import { type Operation, operations, Routes } from '../src/contract/routes.ts'

const routes = new Routes(operations)

// Compiling takes most of the time: a schema is compiled once, not where it is named, and its code is not optimized.
const ajv = newAjv(sealed(schemas), { allErrors: true, inlineRefs: false, code: { optimize: false } })

const compiled = new Map<string, ValidateFunction>()

function validator(key: string, schema: object): ValidateFunction {
	let found = compiled.get(key)
	if (!found) {
		found = ajv.compile(absolute(sealed(schema)))
		compiled.set(key, found)
	}
	return found
}

/** Operation, status and code of every answer that was checked, as `invoices.get 200` and `invoices.get 404 invoice_not_found`. */
export const seen = new Set<string>()

/** All that the contract documents of an operation, in the same form. */
export const documentedAnswers = (operation: Operation): string[] =>
	documentedOf(operation).map(({ status, code }) => [operation.id, status, code].filter(Boolean).join(' '))

/** Whether the operation may answer the code. */
export const documents = (operation: Operation, code: string): boolean =>
	documentedOf(operation).some((answer) => answer.code === code)

interface CheckedAnswer {
	readonly status: number
	readonly headers: Headers
	readonly bytes: Uint8Array
	readonly body: unknown
}

/** Throws when the contract does not document the answer. */
export function checkAnswer(method: string, path: string, answer: CheckedAnswer): void {
	if (!answer.headers.get('x-request-id')) throw new Error(`${method} ${path} ${answer.status} has no X-Request-Id`)
	const match = routes.match(path.split('?', 1)[0] as string)
	const operation = match?.methods.get(method === 'HEAD' ? 'GET' : method)
	// Without an operation the answer is 404 or 405, which the contract describes in general.
	if (!operation) {
		if (answer.status >= 500) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
		check(`problem ${answer.status}`, { $ref: '#/components/schemas/Problem' }, answer, 'application/problem+json')
		return
	}
	const name = `${operation.id} ${answer.status}`
	const documented = contractOperations.get(operation.id)?.responses[answer.status]
	if (!documented) throw new Error(`${name} is not documented: ${JSON.stringify(answer.body)}`)
	for (const [header, { required }] of Object.entries(documented.headers)) {
		if (required && !answer.headers.has(header)) throw new Error(`${name} lacks the header ${header}`)
	}
	const { code } = (answer.body ?? {}) as { code?: string }
	seen.add(answer.status >= 400 ? `${name} ${code}` : name)
	const [type, media] = Object.entries(documented.content ?? {})[0] ?? []
	if (method === 'HEAD') return
	if (!type || !media) {
		if (answer.bytes.length > 0) throw new Error(`${name} has a body`)
		return
	}
	check(name, media.schema, answer, type)
}

function check(name: string, schema: object, { headers, bytes, body }: CheckedAnswer, type: string): void {
	const sent = headers.get('content-type')?.split(';')[0]
	if (sent !== type) throw new Error(`${name} has content type ${sent}, not ${type}`)
	if (type === 'application/pdf') {
		if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') !== '%PDF-') throw new Error(`${name} is no PDF`)
		return
	}
	checkSchema(name, schema, body)
}

/** Throws when a value does not fit a schema of the contract; `name` names the schema in the error. */
export function checkSchema(name: string, schema: object, value: unknown): void {
	const valid = validator(name, schema)
	if (!valid(value)) throw new Error(`${name} does not fit the contract: ${ajv.errorsText(valid.errors)}`)
}
