// Authenticates a request, and checks its scopes and rate limit. The caller is an API key, or a visitor with a token and no key.
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { Callers } from '../../auth/caller.ts'
import { mayCall } from '../../auth/keys.ts'
import type { Guess, RateLimits } from '../../auth/rate-limit.ts'
import { ApiError } from '../../base/errors.ts'
import { isIntegrationPath } from '../../contract/routes.ts'

export type Count = (req: Request, rateClass: 'invoicing' | 'integration') => Promise<void>

/** The bucket of a request without a key. What `X-Forwarded-For` says in place of an address counts as the connection's own. */
export const visitorOf = (limits: RateLimits, { ip, socket }: Request): string => limits.visitor(ip, socket.remoteAddress)

/**
 * Identifies the caller of a request, and counts the request for the caller's key, or for its address when it has no valid key.
 * Throws why there is no caller, unless the request has no operation: then its answer is 404 or 405.
 */
export function countRequest(callers: Callers, limits: RateLimits): Count {
	return async (req, rateClass) => {
		const { context } = req
		let failure: unknown
		try {
			context.caller = await callers.identify(req.headers, () => limits.guesses.check('key', visitorOf(limits, req)))
		} catch (error) {
			failure = error
			if ((error as ApiError).code === 'invalid_credentials') limits.guesses.count('key', visitorOf(limits, req))
		}
		context.headers = await limits[rateClass].count(context.caller?.keyId ?? visitorOf(limits, req))
		if (failure && context.operation) throw failure
	}
}

export function authenticate(count: Count): RequestHandler {
	return async (req, _res, next) => {
		const { context } = req
		const {
			rateClass = 'invoicing',
			scopes = [],
			anyScope = false,
			public: isPublic,
			unlimitedKeysOnly,
		} = context.operation ?? {}
		if (isPublic) return next()
		await count(req, rateClass)
		if (!context.caller || !mayCall(context.caller.scopes, { scopes, anyScope })) {
			const limit = context.caller?.reach ? ', or is limited to other kinds of records' : ''
			throw new ApiError('insufficient_scope', `The API key lacks the scope ${scopes.join(anyScope ? ' or ' : ', ')}${limit}.`)
		}
		if (unlimitedKeysOnly && context.caller.reach !== null)
			throw new ApiError(
				'insufficient_scope',
				'This is about the whole organization, and the API key is limited to some kinds of records.',
			)
		next()
	}
}

/** Rejects a visitor who has followed too many links that do not exist, but not with the token of one that has worked. */
export async function checkLink(limits: RateLimits, req: Request, res: Response, token: string): Promise<void> {
	await limits.guesses.check('link', visitorOf(limits, req), token)
	res.once('finish', () => {
		if (res.statusCode < 400) limits.guesses.worked(token)
	})
}

/** Counts the requests to public operations, whose visitors have a token and no key, by address. */
export function limitVisitors(limits: RateLimits): RequestHandler {
	return (req, res, next) => {
		const { context } = req
		if (!context.operation?.public) return next()
		context.headers = publicHeaders
		const visitor = visitorOf(limits, req)
		checkLink(limits, req, res, context.params.token as string)
			.then(() => limits.invoicing.count(visitor))
			.then((counted) => {
				context.headers = { ...publicHeaders, ...counted }
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

/** Rejects a visitor who has guessed wrong too often. */
export const limitGuesses =
	(limits: RateLimits, guess: Guess): RequestHandler =>
	async (req, _res, next) => {
		await limits.guesses.check(guess, visitorOf(limits, req))
		next()
	}

export const countGuess = (limits: RateLimits, guess: Guess, req: Request) => limits.guesses.count(guess, visitorOf(limits, req))

/** An answer to a token is for its holder only: not for caches, search engines or the next site. */
const publicHeaders = {
	'Cache-Control': 'no-store',
	'Referrer-Policy': 'no-referrer',
	'X-Robots-Tag': 'noindex, nofollow',
}

/** Counts public requests that find nothing: the visitor may be guessing tokens. */
export function countMisses(limits: RateLimits): ErrorRequestHandler {
	return (error, req, _res, next) => {
		if (req.context.operation?.public && (error as ApiError).status === 404) countGuess(limits, 'link', req)
		next(error)
	}
}
