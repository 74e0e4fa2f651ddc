// What is known of a request on its way through the chain, and the one writer of answers.
import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import type { Caller } from '../auth/caller.ts'
import { ApiError, problem } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Mistake } from '../contract/fast-validator.ts'
import type { Operation } from '../contract/routes.ts'
import { isUnavailable } from '../db/database.ts'

export interface Exchange {
	readonly requestId: string
	readonly startedAt: number
	readonly log: Logger
	/** Headers that the answer gets, whichever it is. */
	headers: Record<string, string>
	operation?: Operation
	params: Record<string, string>
	query: Record<string, unknown>
	/** Whether HEAD was asked for, which is answered as GET. */
	head: boolean
	caller?: Caller
	/** What the compiled validator has against the request. */
	mistake?: Mistake
}

declare global {
	namespace Express {
		interface Request {
			exchange: Exchange
		}
	}
}

/** An id that a caller sends is kept if it is a plain token, so that one trace has one id. */
const usableId = /^[A-Za-z0-9._-]{8,64}$/

export function newExchange(req: Request, log: Logger): Exchange {
	const sent = req.headers['x-request-id']
	const requestId = typeof sent === 'string' && usableId.test(sent) ? sent : newId('req')
	return { requestId, startedAt: performance.now(), log, headers: {}, params: {}, query: {}, head: req.method === 'HEAD' }
}

/** Browsers say so when they fetch ahead, by one of these headers. */
export function isViewed({ exchange, headers }: Pick<Request, 'exchange' | 'headers'>): boolean {
	const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz']
	return !exchange.head && !/prefetch|prerender|preview/i.test(String(purpose))
}

export interface Reply {
	readonly status: number
	readonly headers: Readonly<Record<string, string>>
	/** JSON, or a page; absent for 304. */
	readonly text?: string
	/** A file. */
	readonly bytes?: Uint8Array
}

type Exchanging = Pick<Request, 'exchange'>

/** What every answer has unless it says otherwise. */
export const defaults: Readonly<Record<string, string>> = {
	'X-Content-Type-Options': 'nosniff',
	'Cache-Control': 'private, no-cache',
}

/** Writes an answer and its line in the log. */
export function send(req: Exchanging, res: Response, reply: Reply): void {
	const { requestId, headers: always } = req.exchange
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
export function logLine(req: Exchanging, status: number): void {
	const { log, requestId, operation, startedAt, caller } = req.exchange
	const ms = Math.round((performance.now() - startedAt) * 100) / 100
	log.info(
		{ requestId, operation: operation?.id, organization: caller?.organizationId, key: caller?.keyId, status, ms },
		'request',
	)
}

/** What went wrong as the caller may know it: what nobody foresaw is the server's failure, and stored nothing. */
export function asRefusal(error: unknown): ApiError {
	if (error instanceof ApiError) return error
	if (isUnavailable(error)) return new ApiError('unavailable', 'The server cannot reach its database; nothing was stored.')
	return new ApiError('internal_error', 'The server failed; nothing was stored.')
}

export function problemReply(error: ApiError, req: Request): Reply {
	const path = req.originalUrl.split('?', 1)[0] as string
	return {
		status: error.status,
		headers: { 'Content-Type': 'application/problem+json', ...error.headers },
		text: JSON.stringify(problem(error, path, req.exchange.requestId)),
	}
}
