// What is known of a request on its way through the chain.
import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Caller } from '../auth/caller.ts'
import { ApiError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Violation } from '../contract/fast-validator.ts'
import type { Operation } from '../contract/routes.ts'

export interface RequestContext {
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
	violation?: Violation
}

declare global {
	namespace Express {
		interface Request {
			context: RequestContext
		}
	}
}

/** An id that a caller sends is kept if it is a plain token, so that one trace has one id. */
const usableId = /^[A-Za-z0-9._-]{8,64}$/

/** The first step of the chain. */
export function beginRequest(log: Logger): RequestHandler {
	return (req, _res, next) => {
		req.context = newContext(req, log)
		// RFC 9110 §7.2; node:http would refuse it without a word.
		if (req.headers.host === undefined && req.httpVersion === '1.1')
			throw new ApiError('invalid_request', 'The request has no Host.')
		next()
	}
}

function newContext(req: Request, log: Logger): RequestContext {
	const sent = req.headers['x-request-id']
	const requestId = typeof sent === 'string' && usableId.test(sent) ? sent : newId('req')
	return { requestId, startedAt: performance.now(), log, headers: {}, params: {}, query: {}, head: req.method === 'HEAD' }
}

/** Browsers say so when they fetch ahead, by one of these headers. */
export function isViewed({ context, headers }: Pick<Request, 'context' | 'headers'>): boolean {
	const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz']
	return !context.head && !/prefetch|prerender|preview/i.test(String(purpose))
}
