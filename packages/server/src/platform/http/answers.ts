// The answers of handlers, and the only code that writes answers. JSON text from the database is sent as it is.
import type { Request, Response } from 'express'
import { ApiError, problem } from '../base/errors.ts'
import { version } from '../contract/document.ts'
import { OutcomeUnknown, unavailability } from '../db/database.ts'
import type { PageJson } from '../db/pages.ts'
import { type AnsweredRequest, logRequest } from './log-line.ts'
import { sendParts } from './stream.ts'

/** The JSON text of a `T`; in parts when it is too long to hold. */
export class JsonText<T> {
	declare readonly type: T
	readonly content: string | Uint8Array | AsyncIterable<string>

	constructor(content: string | Uint8Array | AsyncIterable<string>) {
		this.content = content
	}
}

/** Puts a record's JSON text into `{data}`. */
export const dataText = <T>(json: string) => new JsonText<{ data: T }>(`{"data":${json}}`)

type Rows = PageJson | AsyncIterable<string>

/** Puts the records of a page into `{data, meta}`; without `meta`, into `{data}`. */
export function listText<T>(rows: Rows): JsonText<{ data: T[] }>
export function listText<T, Meta>(rows: Rows, meta: Meta): JsonText<{ data: T[]; meta: Meta }>
export function listText(rows: Rows, meta?: unknown): JsonText<unknown> {
	const end = meta === undefined ? ']}' : `],"meta":${JSON.stringify(meta)}}`
	if ('json' in rows) return new JsonText(Buffer.concat([listStart, rows.json, Buffer.from(end)]))
	return new JsonText('length' in rows ? `${listStart}${rows.join(',')}${end}` : listParts(rows, end))
}

const listStart = Buffer.from('{"data":[')

async function* listParts(rows: AsyncIterable<string>, end: string): AsyncGenerator<string> {
	let before = `${listStart}`
	for await (const row of rows) {
		yield `${before}${row}`
		before = ','
	}
	yield before === ',' ? end : `${before}${end}`
}

export interface Reply {
	readonly status: number
	readonly headers: Readonly<Record<string, string>>
	/** JSON or an HTML page; absent for a file or 304. */
	readonly text?: string | Uint8Array
	/** JSON that is sent while it is read, without a Content-Length. */
	readonly parts?: AsyncIterable<string>
	/** The content of a file. */
	readonly bytes?: Uint8Array
	/** The cursor of the next page of a list. */
	readonly next?: string
}

/** Headers of every answer, unless the answer sets them itself. */
export const defaults: Readonly<Record<string, string>> = {
	'X-Contract-Version': version,
	'X-Content-Type-Options': 'nosniff',
	'Cache-Control': 'private, no-cache',
}

/** Writes an answer and its log line. Rejects only when an answer in parts fails before it begins. */
export function send(req: AnsweredRequest, res: Response, reply: Reply): void | Promise<void> {
	const { requestId, headers: contextHeaders, crossOrigin } = req.context
	if (res.headersSent) return
	const { headers, status, text, bytes: file, parts } = reply
	// Node sends a flat list as it is; it would walk and check an object again.
	const list: (string | number)[] = ['X-Request-Id', requestId]
	for (const name in contextHeaders) list.push(name, contextHeaders[name] as string)
	if (crossOrigin) list.push(...Object.entries(crossOrigin).flat())
	for (const name in headers) list.push(name, headers[name] as string)
	for (const name in defaults)
		if (headers[name] === undefined && contextHeaders[name] === undefined) list.push(name, defaults[name] as string)
	if (text !== undefined) {
		if (headers['Content-Type'] === undefined) list.push('Content-Type', 'application/json; charset=utf-8')
		const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength
		list.push('Content-Length', bytes)
		// ASCII text, as in nearly every answer, needs no encoding.
		res.writeHead(status, list as string[]).end(text, bytes === text.length ? 'latin1' : 'utf8')
	} else if (file !== undefined) {
		list.push('Content-Length', file.byteLength)
		res.writeHead(status, list as string[]).end(file)
	} else if (parts !== undefined) {
		list.push('Content-Type', 'application/json; charset=utf-8')
		const writeHead = () => void res.writeHead(status, list as string[])
		if (!req.context.head) return sendParts(req, res, parts, writeHead).then(() => logRequest(req, status))
		writeHead()
		res.end()
	} else res.writeHead(status, list as string[]).end()
	logRequest(req, status, status === 201 ? headers.Location : undefined)
}

/** What an error says of the request's effect. */
const effects = { none: '; nothing was stored.', possible: '.', stored: '; the change was stored.' } as const

/** Seconds until a caller may try again what the database could not do. */
export const retryAfter = { 'Retry-After': '2' }

/** The error as the caller may see it: an unexpected error becomes `internal_error`. */
export function toApiError(error: unknown, req: Pick<Request, 'context' | 'headers'>): ApiError {
	if (error instanceof ApiError) return error
	const { operation, effect } = req.context
	const reads = operation?.method === 'GET'
	if (error instanceof OutcomeUnknown && !reads) return outcomeUnknown(req, error)
	// Who only reads may ask again, whatever became of it.
	const reason = unavailability(error instanceof OutcomeUnknown ? error.cause : error)
	const end = effects[effect]
	if (reason) return new ApiError('unavailable', reason + end, { headers: retryAfter, cause: error })
	return new ApiError('internal_error', `The server failed${end}`, { cause: error })
}

function outcomeUnknown({ context, headers }: Pick<Request, 'context' | 'headers'>, cause: Error): ApiError {
	const isRepeatable = context.operation?.idempotent && headers['idempotency-key'] !== undefined
	const advice = isRepeatable ? 'repeat it with the same Idempotency-Key' : 'look whether it was before you repeat it'
	const detail = `The database failed while it stored the request, which may or may not have been stored: ${advice}.`
	return new ApiError('outcome_unknown', detail, { headers: retryAfter, cause })
}

export function problemReply(error: ApiError, req: Request): Reply {
	const path = req.originalUrl.split('?', 1)[0] as string
	return {
		status: error.status,
		headers: { 'Content-Type': 'application/problem+json', ...error.headers },
		text: JSON.stringify(problem(error, path, req.context.requestId)),
	}
}
