// What the steps of the chain learn about a request.
import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Caller } from '../auth/caller.ts'
import { ApiError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { networkOf } from '../base/network.ts'
import type { Actor, Origin } from '../base/origin.ts'
import type { Operation } from '../contract/routes.ts'

export interface RequestContext {
	readonly requestId: string
	readonly startedAt: number
	readonly log: Logger
	/** Headers of the answer, whether a success or an error. */
	headers: Record<string, string>
	/** Further ones, for a page of another origin. */
	crossOrigin?: Readonly<Record<string, string>>
	operation?: Operation
	params: Record<string, string>
	query: Record<string, unknown>
	/** Whether the request is HEAD; `method` then says GET. */
	head: boolean
	caller?: Caller
	/** The bucket in which a request without a key is counted, once somebody asks for it (steps/authenticate.ts). */
	visitor?: string
	/** Whether its refusal waits, or has waited (steps/hold-refusals.ts). */
	wasHeld?: boolean
	/** The size of the body, once it is read and decompressed. */
	bodyBytes: number
	/** What an error may say of the request: `possible` while its handler opens its own transactions or asks other servers. */
	effect: 'none' | 'possible' | 'stored'
}

declare global {
	namespace Express {
		interface Request {
			context: RequestContext
		}
	}
}

/** The server keeps a caller's `X-Request-Id` if it is a plain token, so that a trace has one id. */
const usableId = /^[A-Za-z0-9._-]{8,64}$/

/** The first step of the chain. */
export function beginRequest(log: Logger): RequestHandler {
	return (req, _res, next) => {
		req.context = newContext(req, log)
		// RFC 9110 §7.2; node:http's own 400 would have no body.
		if (req.headers.host === undefined && req.httpVersion === '1.1')
			throw new ApiError('invalid_request', 'The request has no Host.')
		next()
	}
}

function newContext(req: Request, log: Logger): RequestContext {
	const sent = req.headers['x-request-id']
	const requestId = typeof sent === 'string' && usableId.test(sent) ? sent : newId('req')
	return {
		requestId,
		startedAt: performance.now(),
		log,
		headers: {},
		params: {},
		query: {},
		bodyBytes: 0,
		head: req.method === 'HEAD',
		effect: 'none',
	}
}

export type Addressed = Pick<Request, 'headers' | 'ip' | 'socket'>

/**
 * The client's address: the one that a proxy tells, unless it is no address. Express takes 2 µs to find that no proxy names another
 * than the connection's.
 */
export function addressOf(req: Addressed): string | undefined {
	const told = req.headers['x-forwarded-for'] === undefined ? undefined : req.ip
	return told !== undefined && networkOf(told) !== undefined ? told : req.socket.remoteAddress
}

/** The origin of what a request changes. */
export const originOf = (req: Addressed & Pick<Request, 'context'>, actor: Actor, operation: string, now: number): Origin => ({
	actor,
	operation,
	requestId: req.context.requestId,
	address: addressOf(req) ?? null,
	now,
	meter: { bytes: 0 },
})

/** Every browser's name begins so, and that of no library: curl, node, okhttp. */
const browsers = /^(?:Mozilla|Opera)\//

/** Programs whose names begin like a browser's, and that fetch a link to show or to judge it: they name themselves so. */
const fetchers =
	/(?<!cu)bot\b|crawl|spider|preview|externalhit|SafeLinks|urldefense|barracuda|proofpoint|mimecast|Google-(?:InspectionTool|Safety)|Iframely|embedly|PowerShell|ms-office/i

/** Whether a person asked for the answer. A browser that fetches ahead says so in one of these headers. */
export function isViewed({ context, headers }: Pick<Request, 'context' | 'headers'>): boolean {
	const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz']
	return !context.head && !/prefetch|prerender|preview/i.test(String(purpose))
}

/** Whether a person looks at it with a browser, and no program fetches it. */
export function isSeen(req: Pick<Request, 'context' | 'headers'>): boolean {
	const agent = req.headers['user-agent'] ?? ''
	return isViewed(req) && browsers.test(agent) && !fetchers.test(agent)
}

/** Aborted when the caller hangs up before the answer is sent. Made only where work can be left. */
export function hangUpSignal({ res }: Request): AbortSignal {
	const controller = new AbortController()
	const hangUp = () => controller.abort(new ApiError('invalid_request', 'The caller hung up before the answer.'))
	if (res?.closed) hangUp()
	else res?.once('close', hangUp)
	return controller.signal
}
