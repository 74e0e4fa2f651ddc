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

/** Who has a token and no key is counted by address, and tokens that are none are counted apart. */
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

/** What is found by a token alone is for its holder, and for no cache, search engine or next site. */
const publicHeaders = {
	'Cache-Control': 'no-store',
	'Referrer-Policy': 'no-referrer',
	'X-Robots-Tag': 'noindex, nofollow',
}

/** Whoever asks for what is not there may be guessing tokens. */
export function countMisses(limit: RateLimit): ErrorRequestHandler {
	return (error, req, _res, next) => {
		if (req.context.operation?.public && (error as ApiError).status === 404) limit.countMiss(req.ip)
		next(error)
	}
}
