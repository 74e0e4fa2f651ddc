// What handlers answer with, and the one writer of answers. JSON that the database made goes out as the text it is.
import type { Request, Response } from 'express'
import { ApiError, problem } from '../base/errors.ts'
import { isUnavailable } from '../db/database.ts'

/** The JSON text of a `T`. */
export class JsonText<T> {
	declare readonly type: T
	readonly text: string

	constructor(text: string) {
		this.text = text
	}
}

/** `{data}` around a record. */
export const dataText = <T>(json: string) => new JsonText<{ data: T }>(`{"data":${json}}`)

/** `{data, meta}` around the records of a page; without `meta`, `{data}`. */
export function listText<T>(rows: readonly string[]): JsonText<{ data: T[] }>
export function listText<T, Meta>(rows: readonly string[], meta: Meta): JsonText<{ data: T[]; meta: Meta }>
export function listText(rows: readonly string[], meta?: unknown): JsonText<unknown> {
	const data = `{"data":[${rows.join(',')}]`
	return new JsonText(meta === undefined ? `${data}}` : `${data},"meta":${JSON.stringify(meta)}}`)
}

export interface Reply {
	readonly status: number
	readonly headers: Readonly<Record<string, string>>
	/** JSON, or a page; absent for 304. */
	readonly text?: string
	/** A file. */
	readonly bytes?: Uint8Array
}

type WithContext = Pick<Request, 'context'>

/** What every answer has unless it says otherwise. */
export const defaults: Readonly<Record<string, string>> = {
	'X-Content-Type-Options': 'nosniff',
	'Cache-Control': 'private, no-cache',
}

/** Writes an answer and its line in the log. */
export function send(req: WithContext, res: Response, reply: Reply): void {
	const { requestId, headers: always } = req.context
	if (res.headersSent) return
	const { headers, status, text, bytes: file } = reply
	// A flat list goes out as it is; an object would be walked and checked again.
	const list: (string | number)[] = ['X-Request-Id', requestId]
	for (const name in always) list.push(name, always[name] as string)
	for (const name in headers) list.push(name, headers[name] as string)
	for (const name in defaults)
		if (headers[name] === undefined && always[name] === undefined) list.push(name, defaults[name] as string)
	if (text !== undefined) {
		if (headers['Content-Type'] === undefined) list.push('Content-Type', 'application/json; charset=utf-8')
		const bytes = Buffer.byteLength(text)
		list.push('Content-Length', bytes)
		// ASCII, as nearly every answer, goes out without being encoded.
		res.writeHead(status, list as string[]).end(text, bytes === text.length ? 'latin1' : 'utf8')
	} else if (file !== undefined) {
		list.push('Content-Length', file.byteLength)
		res.writeHead(status, list as string[]).end(file)
	} else res.writeHead(status, list as string[]).end()
	logLine(req, reply.status)
}

/** One line a request: no body, no query, no header, so no secret. */
export function logLine(req: WithContext, status: number): void {
	const { log, requestId, operation, startedAt, caller } = req.context
	const ms = Math.round((performance.now() - startedAt) * 100) / 100
	log.info(
		{ requestId, operation: operation?.id, organization: caller?.organizationId, key: caller?.keyId, status, ms },
		'request',
	)
}

/** What went wrong as the caller may know it: what nobody foresaw is the server's failure, and stored nothing. */
export function toApiError(error: unknown): ApiError {
	if (error instanceof ApiError) return error
	if (isUnavailable(error)) return new ApiError('unavailable', 'The server cannot reach its database; nothing was stored.')
	return new ApiError('internal_error', 'The server failed; nothing was stored.')
}

export function problemReply(error: ApiError, req: Request): Reply {
	const path = req.originalUrl.split('?', 1)[0] as string
	return {
		status: error.status,
		headers: { 'Content-Type': 'application/problem+json', ...error.headers },
		text: JSON.stringify(problem(error, path, req.context.requestId)),
	}
}
