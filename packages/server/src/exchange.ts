// What is known of a request on its way through the chain, and the one writer of answers.
import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import type { Caller } from './auth/caller.ts'
import type { Mistake } from './contract/acceptor.ts'
import type { Operation } from './contract/routes.ts'
import { type ApiError, problem } from './errors.ts'
import { newId } from './ids.ts'

export interface Exchange {
	readonly requestId: string
	readonly startedAt: number
	readonly log: Logger
	/** Headers that the answer gets, whichever it is. */
	rateHeaders: Record<string, string>
	operation?: Operation
	params: Record<string, string>
	query: Record<string, unknown>
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
	return { requestId, startedAt: performance.now(), log, rateHeaders: {}, params: {}, query: {} }
}

export interface Reply {
	readonly status: number
	readonly headers: Readonly<Record<string, string>>
	/** JSON; absent for 304. */
	readonly text?: string
}

/** Writes an answer and its line in the log. */
export function send(req: Request, res: Response, reply: Reply): void {
	const { requestId, rateHeaders } = req.exchange
	if (res.headersSent) return
	const { headers, status, text } = reply
	// A flat list goes out as it is; an object would be walked and checked again.
	const list: (string | number)[] = ['X-Request-Id', requestId]
	for (const name in rateHeaders) list.push(name, rateHeaders[name] as string)
	for (const name in headers) list.push(name, headers[name] as string)
	list.push('X-Content-Type-Options', 'nosniff', 'Cache-Control', 'private, no-cache')
	if (text !== undefined) {
		if (headers['Content-Type'] === undefined) list.push('Content-Type', 'application/json; charset=utf-8')
		const bytes = Buffer.byteLength(text)
		list.push('Content-Length', bytes)
		// ASCII, as nearly every answer, goes out without being encoded.
		res.writeHead(status, list as string[]).end(text, bytes === text.length ? 'latin1' : 'utf8')
	} else res.writeHead(status, list as string[]).end()
	logLine(req, reply.status)
}

/** One line a request: no body, no query, no header, so no secret. */
export function logLine(req: Request, status: number): void {
	const { log, requestId, operation, startedAt, caller } = req.exchange
	const ms = Math.round((performance.now() - startedAt) * 100) / 100
	log.info(
		{ requestId, operation: operation?.id, organization: caller?.organizationId, key: caller?.keyId, status, ms },
		'request',
	)
}

export function problemReply(error: ApiError, req: Request): Reply {
	const path = req.originalUrl.split('?', 1)[0] as string
	return {
		status: error.status,
		headers: { 'Content-Type': 'application/problem+json', ...error.headers },
		text: JSON.stringify(problem(error, path, req.exchange.requestId)),
	}
}
