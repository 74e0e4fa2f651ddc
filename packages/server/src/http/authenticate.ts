// Who asks, what they may do, and how often: an API key with its scopes, or a visitor who has a token and no key.
import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { Callers } from '../auth/caller.ts'
import { allows } from '../auth/keys.ts'
import type { RateLimit, RateLimits } from '../auth/rate-limit.ts'
import { ApiError } from '../base/errors.ts'

export type Count = (req: Request, rateClass: keyof RateLimits) => Promise<void>

/** Counts a request for its caller, or for the address of who is none. Knows the caller afterwards, or throws why not. */
export function countRequest(callers: Callers, limits: RateLimits): Count {
	return async (req, rateClass) => {
		const { exchange } = req
		const limit = limits[rateClass]
		let refusal: unknown
		try {
			exchange.caller = await callers.identify(req.headers)
		} catch (error) {
			refusal = error
		}
		exchange.headers = await limit.count(exchange.caller?.keyId ?? `address ${req.ip}`)
		if (refusal && exchange.operation) throw refusal
	}
}

export function authenticate(count: Count): RequestHandler {
	return async (req, _res, next) => {
		const { exchange } = req
		const { rateClass = 'invoicing', scopes = [], public: isPublic } = exchange.operation ?? {}
		if (isPublic) return next()
		await count(req, rateClass)
		if (!exchange.caller || !allows(exchange.caller.scopes, scopes)) {
			throw new ApiError('insufficient_scope', `The API key lacks the scope ${scopes.join(', ')}.`)
		}
		next()
	}
}

/** Who has a token and no key is counted by address, and tokens that are none are counted apart. */
export function limitVisitors(limit: RateLimit): RequestHandler {
	return (req, _res, next) => {
		const { exchange } = req
		if (!exchange.operation?.public) return next()
		exchange.headers = publicHeaders
		limit
			.countVisitor(req.ip)
			.then((counted) => {
				exchange.headers = { ...publicHeaders, ...counted }
				next()
			})
			.catch(next)
	}
}

/** What is found by a token alone is for its holder, and for no cache, search engine or next site. */
const publicHeaders = {
	'Cache-Control': 'no-store',
	'Referrer-Policy': 'no-referrer',
	'X-Robots-Tag': 'noindex, nofollow',
}

/** Whoever asks for what is not there may be guessing tokens. */
export function countMisses(limit: RateLimit): ErrorRequestHandler {
	return (error, req, _res, next) => {
		if (req.exchange.operation?.public && (error as ApiError).status === 404) limit.countMiss(req.ip)
		next(error)
	}
}
