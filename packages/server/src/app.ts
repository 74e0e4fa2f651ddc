// The Express chain, in the order in which a request meets it.
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Callers } from './auth/caller.ts'
import { allows } from './auth/keys.ts'
import type { RateLimit, RateLimits } from './auth/rate-limit.ts'
import { ApiError, methodNotAllowed } from './base/errors.ts'
import type { Config } from './config.ts'
import { documentText } from './contract/document.ts'
import { compileAcceptors } from './contract/fast-validator.ts'
import { operations, Routes } from './contract/routes.ts'
import { translateErrors } from './contract/validation-errors.ts'
import type { Database } from './db/database.ts'
import { paymentRoutes } from './hosted/payment-routes.ts'
import { type HostedOptions, hostedPages } from './hosted/routes.ts'
import { readBody } from './http/body.ts'
import { dispatch } from './http/dispatch.ts'
import { inOrder } from './http/express.ts'
import { checkReady } from './http/health.ts'
import { asRefusal, newExchange, problemReply, send } from './http/request-context.ts'
import { handlers } from './operations.ts'
import type { Outside } from './outside/services.ts'

export interface AppOptions {
	readonly db: Database
	readonly config: Config
	readonly log: Logger
	readonly now: () => number
	/** Finds who is calling. */
	readonly callers: Callers
	readonly outside: Outside
	readonly limits: RateLimits
}

export function createApp({ db, config, log, now, callers, outside, limits }: AppOptions): Express {
	const validateAll = config.NODE_ENV === 'development'
	const count = countRequest(callers, limits)
	const app = express()
	app.disable('x-powered-by').disable('etag').set('query parser', 'simple').set('trust proxy', config.TRUST_PROXY)
	app.use(
		inOrder(
			begin(log),
			findOperation(besidesTheContract({ db, outside, limit: limits.invoicing, now }), count),
			admitVisitor(limits.invoicing),
			authenticate(count),
			readBody,
			accept(),
			validate(validateAll),
			dispatch({ handlers, db, now, outside, callers, validateResponses: validateAll }),
		),
	)
	app.use(translateErrors, countMisses(limits.invoicing), renderError)
	return app
}

/** What load balancers, tools, browsers and payment processors ask for, without a key. */
function besidesTheContract(options: HostedOptions): RequestHandler {
	const router = express.Router()
	router.get('/health', (req, res) => send(req, res, { status: 200, headers: {}, text: '{"ok":true}' }))
	router.get('/ready', checkReady(options.db))
	router.get('/openapi.json', (req, res) => send(req, res, { status: 200, headers: {}, text: documentText }))
	router.all(['/health', '/ready', '/openapi.json'], (req) => {
		refuseMethod(req, ['GET'])
	})
	router.use(paymentRoutes(options), hostedPages(options))
	router.use((req) => {
		throw new ApiError('route_not_found', `There is no ${req.path}.`)
	})
	return router
}

function begin(log: Logger): RequestHandler {
	return (req, _res, next) => {
		req.exchange = newExchange(req, log)
		// RFC 9110 §7.2; node:http would refuse it without a word.
		if (req.headers.host === undefined && req.httpVersion === '1.1')
			throw new ApiError('invalid_request', 'The request has no Host.')
		next()
	}
}

/** `outside` answers the paths that are not the contract's. */
function findOperation(outside: RequestHandler, count: Count): RequestHandler {
	const routes = new Routes(operations)
	return (req, res, next) => {
		const match = routes.match(req.path)
		// HEAD is GET without the body, which node:http leaves out by itself.
		if (match && req.method === 'HEAD') req.method = 'GET'
		const operation = match?.methods.get(req.method)
		if (match && operation) {
			req.exchange.operation = operation
			req.exchange.params = match.params
			return next()
		}
		const refuse = () => {
			if (match) refuseMethod(req, [...match.methods.keys()])
			return outside(req, res, next)
		}
		if (!integrationPath.test(req.path)) return refuse()
		count(req, 'integration').then(refuse).catch(next)
	}
}

function refuseMethod({ path, method }: Request, methods: readonly string[]): never {
	throw methodNotAllowed(path, method, methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', '))
}

/** The integration API counts every request and says so in every answer, those to paths that do not exist too. */
const integrationPath = /^\/(api-keys|connections|mappings|syncs|webhooks)(\/|$)/

type Count = (req: Request, rateClass: keyof RateLimits) => Promise<void>

/** Counts a request for its caller, or for the address of who is none. Knows the caller afterwards, or throws why not. */
function countRequest(callers: Callers, limits: RateLimits): Count {
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

function authenticate(count: Count): RequestHandler {
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
function admitVisitor(limit: RateLimit): RequestHandler {
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
function countMisses(limit: RateLimit): ErrorRequestHandler {
	return (error, req, _res, next) => {
		if (req.exchange.operation?.public && (error as ApiError).status === 404) limit.countMiss(req.ip)
		next(error)
	}
}

function accept(): RequestHandler {
	const acceptors = compileAcceptors(operations)
	return (req, _res, next) => {
		const { exchange } = req
		const accept = acceptors.get(exchange.operation?.id ?? '')
		exchange.query = req.url.includes('?') ? { ...req.query } : {}
		exchange.mistake = accept?.({ params: exchange.params, query: exchange.query, headers: req.headers, body: req.body })
		next()
	}
}

/**
 * The full validator: for what the acceptor refused, or for every request when both are to be compared. What it lets pass
 * although the acceptor refused it (it takes `limit=0x10` for an integer) is refused as the acceptor says.
 */
function validate(always: boolean): RequestHandler {
	let chain: Promise<RequestHandler> | undefined
	return (req, res, next) => {
		const { mistake } = req.exchange
		if (!mistake && !always) return next()
		const judged = (error?: unknown) => {
			// A 500 here is about an answer that the contract does not know.
			if (error && !mistake && (error as { status?: number }).status !== 500) {
				next(new Error(`the validators disagree on ${req.method} ${req.url}`, { cause: error }))
			} else next(error ?? (mistake && { status: 400, errors: [mistake] }))
		}
		chain ??= loadFullValidator(always)
		chain.then((validator) => validator(req, res, judged)).catch(next)
	}
}

/** Loaded when it is first needed: in production that is the first refusal, and 18 MB that many processes never need. */
async function loadFullValidator(validateResponses: boolean): Promise<RequestHandler> {
	const { fullValidator } = await import('./contract/full-validator.ts')
	return express.Router().use(fullValidator(validateResponses))
}

const renderError: ErrorRequestHandler = (error, req, res, _next) => {
	const refusal = asRefusal(error)
	const { log, requestId } = req.exchange
	if (refusal.status >= 500) log.error({ err: error, requestId }, refusal.message)
	send(req, res, problemReply(refusal, req))
}
