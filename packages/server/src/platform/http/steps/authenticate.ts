// Authenticates a request, and checks its scopes and rate limit. The caller is an API key, a person with a session, or a visitor.
import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { Callers } from '../../auth/caller.ts'
import { requireAllowed } from '../../auth/permissions.ts'
import type { Guess, RateLimits } from '../../auth/rate-limit.ts'
import { ApiError } from '../../base/errors.ts'
import { isIntegrationPath } from '../../contract/routes.ts'
import { isChange, requireSameSite } from './same-site.ts'

export type Count = (req: Request, rateClass: 'invoicing' | 'integration') => Promise<void>

/** The bucket of a request without a key. What `X-Forwarded-For` says in place of an address counts as the connection's own. */
export function visitorOf(limits: RateLimits, req: Request): string {
	const { context, headers, socket } = req
	const told = headers['x-forwarded-for'] === undefined ? undefined : req.ip
	context.visitor ??= limits.visitor(told, socket.remoteAddress)
	return context.visitor
}

/**
 * Identifies the caller of a request, and counts the request for the caller's key, or for its address when it has no valid key.
 * Throws why there is no caller, unless the request has no operation: then its answer is 404 or 405.
 */
export function countRequest(callers: Callers, limits: RateLimits): Count {
	return async (req, rateClass) => {
		const { context } = req
		let failure: unknown
		try {
			context.caller = await callers.identify(req.headers, (work) => limits.guesses.attempt('key', visitorOf(limits, req), work))
		} catch (error) {
			failure = error
		}
		context.headers = await limits[rateClass].count(context.caller?.id ?? visitorOf(limits, req))
		if (failure && context.operation) throw failure
	}
}

export function authenticate(count: Count, baseUrl: () => string): RequestHandler {
	return async (req, _res, next) => {
		const { context } = req
		const { operation } = context
		if (operation?.public) return next()
		await count(req, operation?.rateClass ?? 'invoicing')
		const { caller } = context
		if (!operation || !caller) throw new ApiError('insufficient_scope', 'The request has no operation.')
		requireAllowed(operation, caller)
		if (caller.session && isChange(req)) requireSameSite(req, baseUrl())
		next()
	}
}

/**
 * A body may take its time. Once it is here, and the operation changes anything, the caller must still work: a key that was revoked meanwhile
 * does not.
 */
export function authenticateAgain(callers: Callers): RequestHandler {
	return (req, _res, next) => {
		const { operation, caller } = req.context
		if (!operation || !caller || operation.body === 'none' || !isChange(req) || callers.isCurrent(caller)) return next()
		return callers.again(caller).then((found) => {
			requireAllowed(operation, found)
			req.context.caller = found
			next()
		})
	}
}

/** Counts the requests to public operations, whose visitors have no key, by address. */
export function limitVisitors(limits: RateLimits, baseUrl: () => string): RequestHandler {
	return (req, _res, next) => {
		const { context } = req
		if (!context.operation?.public) return next()
		context.headers = publicHeaders
		limits.invoicing
			.count(visitorOf(limits, req))
			.then((counted) => {
				context.headers = { ...publicHeaders, ...counted }
				// What changes anything without a key is how a person gets a session.
				if (isChange(req)) requireSameSite(req, baseUrl())
				next()
			})
			.catch(next)
	}
}

/** Counts the requests to routes that the contract does not have, by address. */
export const countVisits =
	(limits: RateLimits): RequestHandler =>
	async (req, _res, next) => {
		// Those of the integration API have been counted.
		if (!isIntegrationPath(req.path)) req.context.headers = await limits.invoicing.count(visitorOf(limits, req))
		next()
	}

/** Counts a wrong guess; throws 429 in place of what was to be said of it when there were too many. */
export const countGuess = (limits: RateLimits, guess: Guess, req: Request) => limits.guesses.count(guess, visitorOf(limits, req))

/** Counts the errors that say of a guess that it is wrong. */
export function countWrong(
	limits: RateLimits,
	guess: Guess,
	isWrong: (error: Partial<ApiError>, req: Request) => boolean,
): ErrorRequestHandler {
	return (error, req, _res, next) => {
		if (!isWrong(error, req)) return next(error)
		countGuess(limits, guess, req).then(() => next(error), next)
	}
}

/** An answer to a token is for its holder only: not for caches, search engines or the next site. */
const publicHeaders = {
	'Cache-Control': 'no-store',
	'Referrer-Policy': 'no-referrer',
	'X-Robots-Tag': 'noindex, nofollow',
}

/** Counts public requests that find nothing: the visitor may be guessing tokens. */
export const countMisses = (limits: RateLimits) =>
	countWrong(limits, 'link', ({ status }, { context }) => context.operation?.public === true && status === 404)

/** The same for pages. */
export const countMissesOfPages = (limits: RateLimits) =>
	countWrong(limits, 'link', ({ code = '' }) => code.endsWith('_link_not_found'))
