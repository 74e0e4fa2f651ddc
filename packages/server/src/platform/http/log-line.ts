// What the log says of a request. Its line is written by hand: pino takes three times as long for it. It has no body, query or header, so no
// secret. Its path is the template of the contract or of the route, because a path may hold the token of a client link.
import type { Request } from 'express'
import { sentKey } from '../auth/caller.ts'
import { ApiError } from '../base/errors.ts'
import { unavailability } from '../db/database.ts'
import { beginInfo, writeInfo } from '../log/log.ts'
import { type Addressed, addressOf } from './request-context.ts'

export type AnsweredRequest = Addressed & Pick<Request, 'context' | 'method' | 'route'>

/** `created` is the path of the record that the request created. */
export function logRequest(req: AnsweredRequest, status: number, created?: string): void {
	const { log, requestId, operation, params, startedAt, caller, head } = req.context
	if (!log.isLevelEnabled('info')) return
	let line = `${beginInfo(log)},"requestId":"${requestId}","address":${text(addressOf(req) ?? '')}`
	line += `,"method":"${head ? 'HEAD' : req.method}"`
	const path = operation?.path ?? req.route?.path
	if (typeof path === 'string') line += `,"path":"${path}"`
	const record = created?.slice(created.lastIndexOf('/') + 1) ?? params.id
	if (record !== undefined) line += `,"record":${text(record)}`
	if (operation) line += `,"operation":"${operation.id}"`
	if (caller) line += `,"organization":"${caller.organizationId}","${caller.session ? 'user' : 'key'}":"${caller.id}"`
	else if (status === 401) line += refusedKey(sentKey(req.headers) ?? '')
	const ms = Math.round((performance.now() - startedAt) * 100) / 100
	writeInfo(log, `${line},"status":${status},"ms":${ms},"msg":"request"}\n`)
}

/** Logs why the server failed a request. In an outage, such as of the database, each request has a line: without a stack, since no code is at fault. */
export function logFailure({ log, requestId }: Request['context'], error: unknown, { status, code, message }: ApiError): void {
	if (status < 500) return
	const cause: unknown = error instanceof ApiError ? error.cause : error
	if (code !== 'unavailable' || (cause && !unavailability(cause))) log.error({ err: error, requestId }, message)
	else log.warn({ requestId, ...(cause instanceof Error && { cause: wordsOf(cause) }) }, message)
}

/** Of several refused connections, Node has a code alone. */
const wordsOf = (error: Error & { readonly code?: string }) => error.message || error.code || error.name

/** The last four characters, as a list of keys shows them. Of a text that is hardly longer they would say too much. */
const refusedKey = (key: string): string => (key.length < 16 ? '' : `,"refusedKey":${text(key.slice(-4))}`)

const longestText = 100

/** JSON of a text that a caller may have written. */
const text = (given: string): string =>
	/^[\w.:-]{0,100}$/.test(given) ? `"${given}"` : JSON.stringify(given.slice(0, longestText))
