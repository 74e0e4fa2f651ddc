// The Express chain, in the order in which a request meets it.
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from 'pino'
import { crmPath, demoCrm } from './app/demo/crm.ts'
import { referenceRoutes } from './app/docs/routes.ts'
import { connectRoutes } from './app/hosted/connect-routes.ts'
import { connectionRoutes } from './app/hosted/connection-routes.ts'
import { openIdRoutes } from './app/hosted/openid-routes.ts'
import { paymentRoutes, processorWebhooks } from './app/hosted/payment-routes.ts'
import { providerWebhooks } from './app/hosted/provider-webhooks.ts'
import { brokenPath, failurePage, type HostedOptions, hostedPages, pagePaths } from './app/hosted/routes.ts'
import { readPages } from './app/web/pages.ts'
import { webRoutes } from './app/web/routes.ts'
import type { Config } from './config.ts'
import { handlers } from './operations.ts'
import type { Callers } from './platform/auth/caller.ts'
import type { RateLimits } from './platform/auth/rate-limit.ts'
import type { StoredBytes } from './platform/auth/stored-bytes.ts'
import { ApiError } from './platform/base/errors.ts'
import type { Database } from './platform/db/database.ts'
import { problemReply, send, toApiError } from './platform/http/answers.ts'
import { dispatch } from './platform/http/dispatch.ts'
import type { Load } from './platform/http/load.ts'
import { logFailure } from './platform/http/log-line.ts'
import { beginRequest } from './platform/http/request-context.ts'
import {
	authenticate,
	authenticateAgain,
	countMisses,
	countMissesOfPages,
	countRequest,
	countVisits,
	limitVisitors,
} from './platform/http/steps/authenticate.ts'
import { afterLargeBody, readBody } from './platform/http/steps/body.ts'
import { allowOrigins } from './platform/http/steps/cors.ts'
import { documentRoute } from './platform/http/steps/document.ts'
import { runSteps } from './platform/http/steps/express.ts'
import { findOperation } from './platform/http/steps/find-operation.ts'
import { type PhaseOf, systemRoutes } from './platform/http/steps/health.ts'
import { holdRefusals } from './platform/http/steps/hold-refusals.ts'
import { takeTurn } from './platform/http/steps/take-turn.ts'
import { limitUnderWay } from './platform/http/steps/under-way.ts'
import { validateFast, validateFully } from './platform/http/steps/validate.ts'
import type { Services } from './platform/outside/services.ts'

export interface AppOptions {
	readonly db: Database
	readonly config: Config
	readonly log: Logger
	readonly now: () => number
	/** Set while it is not known what time it is. */
	readonly askingTime?: (() => Promise<void> | undefined) | undefined
	/** Finds the caller of an API key. */
	readonly callers: Callers
	readonly storedBytes: StoredBytes
	readonly services: Services
	readonly limits: RateLimits
	readonly load: Load
	readonly phaseOf: PhaseOf
}

export function createApp(options: AppOptions): Express {
	const { db, config, log, now, askingTime, callers, storedBytes, services, limits, load } = options
	const isDevelopment = config.NODE_ENV === 'development'
	const count = countRequest(callers, limits)
	const limitOwn = limitUnderWay(config.REQUESTS_UNDER_WAY, limits)
	const hold = holdRefusals(limits)
	const turn = takeTurn(limits, load)
	const baseUrl = () => services.baseUrl
	const app = express()
	app.disable('x-powered-by').disable('etag').set('query parser', 'simple').set('trust proxy', config.TRUST_PROXY)
	app.use(
		runSteps(
			beginRequest(log),
			...(config.CORS_ORIGINS.length > 0 ? [allowOrigins(config.CORS_ORIGINS)] : []),
			findOperation(nonContractRoutes({ db, services, host: config.HOST, limits, now }, options, { limitOwn, hold }), count),
			limitVisitors(limits, baseUrl),
			authenticate(count, baseUrl),
			limitOwn,
			turn,
			readBody,
			afterLargeBody(turn),
			validateFast(),
			...(isDevelopment ? [validateFully()] : []),
			authenticateAgain(callers),
			dispatch({
				...{ handlers, db, now, askingTime, services, callers, storedBytes, limits, load },
				validateResponses: isDevelopment,
			}),
		),
	)
	app.use(countMisses(limits), hold, renderError)
	return app
}

/** What a process answers that does no requests: whether it runs, and whether its database does. */
export function createWorkerApp({ db, log, phaseOf }: Pick<AppOptions, 'db' | 'log' | 'phaseOf'>): Express {
	const app = express()
	app.disable('x-powered-by').disable('etag')
	app.use(beginRequest(log), systemRoutes(db, phaseOf), noRoute, renderError)
	return app
}

const noRoute: RequestHandler = (req) => {
	const hint = /^\/api\/(api|connections|mappings|syncs|webhooks)\b/.test(req.path)
		? ': the base URL of a client ends before /api'
		: ''
	throw new ApiError('route_not_found', `There is no ${req.path}${hint}.`)
}

/** The routes that load balancers, tools, browsers and payment processors use without a key. */
function nonContractRoutes(
	options: HostedOptions,
	{ config, load, log, phaseOf }: Pick<AppOptions, 'config' | 'load' | 'log' | 'phaseOf'>,
	{ limitOwn, hold }: { limitOwn: RequestHandler; hold: ErrorRequestHandler },
): RequestHandler {
	const router = express.Router()
	const { db, limits } = options
	router.use(systemRoutes(db, phaseOf))
	// Answered from memory, so no limit concerns it.
	if (config.WEB === 'on') router.use(webApplication(log))
	router.use(limitOwn, processorWebhooks(options), providerWebhooks(options), countVisits(limits), takeTurn(limits, load))
	router.use(
		documentRoute(options.services),
		paymentRoutes(options),
		connectionRoutes(options),
		connectRoutes(options),
		hostedPages(options),
	)
	if (config.WEB === 'on') router.use(referenceRoutes(options.services), openIdRoutes(options))
	if (config.NODE_ENV === 'development') router.use(crmPath, demoCrm(options.now))
	router.use(noRoute)
	router.use(pagePaths, brokenPath, countMissesOfPages(limits))
	router.use(hold)
	router.use(pagePaths, failurePage())
	return router
}

function webApplication(log: Logger): RequestHandler {
	const pages = readPages()
	if (pages) return webRoutes(pages)
	log.warn('the web application is not built, so /app is not served: run npx -y pnpm@12.21.0 build, or set WEB=off')
	return (_req, _res, next) => next()
}

const renderError: ErrorRequestHandler = (error, req, res, _next) => {
	const answered = toApiError(error, req)
	logFailure(req.context, error, answered)
	send(req, res, problemReply(answered, req))
}
