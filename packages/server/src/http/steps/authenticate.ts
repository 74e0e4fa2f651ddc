// Authenticates a request, and checks its scopes and rate limit. The caller is an API key, or a visitor with a token and no key.
import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { Callers } from '../../auth/caller.ts'
import { allows } from '../../auth/keys.ts'
import type { RateLimit, RateLimits } from '../../auth/rate-limit.ts'
import { ApiError } from '../../base/errors.ts'

export type Count = (req: Request, rateClass: keyof RateLimits) => Promise<void>

/**
 * Identifies the caller of a request, and counts the request for the caller's key, or for its address when it has no valid key.
 * Throws why there is no caller, unless the request has no operation: then its answer is 404 or 405.
 */
export function countRequest(callers: Callers, limits: RateLimits): Count {
	return async (req, rateClass) => {
		const { context } = req
		const limit = limits[rateClass]
		let failure: unknown
		try {
			context.caller = await callers.identify(req.headers)
		} catch (error) {
			failure = error
		}
		context.headers = await limit.count(context.caller?.keyId ?? `address ${req.ip}`)
		if (failure && context.operation) throw failure
	}
}

export function authenticate(count: Count): RequestHandler {
	return async (req, _res, next) => {
		const { context } = req
		const { rateClass = 'invoicing', scopes = [], public: isPublic } = context.operation ?? {}
		if (isPublic) return next()
		await count(req, rateClass)
		if (!context.caller || !allows(context.caller.scopes, scopes)) {
			throw new ApiError('insufficient_scope', `The API key lacks the scope ${scopes.join(', ')}.`)
		}
		next()
	}
}

/** Counts the requests of visitors, who have a token and no key, by address. `countMisses` counts unknown tokens separately. */
export function limitVisitors(limit: RateLimit): RequestHandler {
	return (req, _res, next) => {
		const { context } = req
		if (!context.operation?.public) return next()
		context.headers = publicHeaders
		limit
			.countVisitor(req.ip)
			.then((counted) => {
				context.headers = { ...publicHeaders, ...counted }
				next()
			})
			.catch(next)
	}
}

/** An answer to a token is for its holder only: not for caches, search engines or the next site. */
const publicHeaders = {
	'Cache-Control': 'no-store',
	'Referrer-Policy': 'no-referrer',
	'X-Robots-Tag': 'noindex, nofollow',
}

/** Counts public requests that find nothing: the visitor may be guessing tokens. */
export function countMisses(limit: RateLimit): ErrorRequestHandler {
	return (error, req, _res, next) => {
		if (req.context.operation?.public && (error as ApiError).status === 404) limit.countMiss(req.ip)
		next(error)
	}
}
