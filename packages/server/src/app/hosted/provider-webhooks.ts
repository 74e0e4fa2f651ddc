// The webhooks of providers of connections. The providers define these requests, not the contract.

import express, { type NextFunction, type Request, type Response, type Router } from 'express'
import {
	findProvider,
	findSyncsOfAccount,
	findSyncsOfConnection,
	findTokenRow,
	InvalidProviderWebhook,
	openCredentials,
	readers,
	wakeSyncs,
} from '../../integration/doors.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { send } from '../../platform/http/answers.ts'
import { countWrong } from '../../platform/http/steps/authenticate.ts'
import { InvalidWebhook } from '../../platform/outside/payments/processor.ts'
import { bytesOf, isOfSender, readBytes } from './payment-routes.ts'
import type { HostedOptions } from './routes.ts'

const root = '/connections/webhooks'

const received = { status: 200, headers: {}, text: '' }

export function providerWebhooks(options: HostedOptions): Router {
	const { limits } = options
	const router = express.Router()
	for (const provider of ['hubspot', 'xero'] as const) {
		const secret = secretOf(options, provider)
		if (secret) router.post(`${root}/${provider}`, readBytes, (req, res) => takeOfApp(options, provider, secret, req, res))
	}
	// One account has one endpoint with a secret of its own.
	const find = (req: StripeRequest, res: Response, next: NextFunction) => findSecret(options, req, res).then(() => next(), next)
	router.post(`${root}/stripe/:organizationId/:id`, find, readBytes, (req: StripeRequest, res: Response) =>
		takeOfStripe(options, req, res),
	)
	router.use(root, countWrong(limits, 'signature', isOfSender))
	return router
}

/** HubSpot signs with the secret of the app. */
function secretOf({ services }: HostedOptions, provider: 'hubspot' | 'xero'): string {
	const { webhookSecret, clientSecret } = services.providerSettings(provider)
	return webhookSecret || (provider === 'hubspot' ? clientSecret : '')
}

/** The webhook of an app, which is about any of the accounts that let the app in. */
async function takeOfApp(
	{ db, services, now: clock }: HostedOptions,
	provider: 'hubspot' | 'xero',
	secret: string,
	req: Request,
	res: Response,
): Promise<void> {
	const now = clock()
	const webhook = { url: services.baseUrl + req.originalUrl, headers: req.headers, body: bytesOf(req) }
	const accounts = readSafely(() => readers[provider](webhook, secret, now))
	// Xero proves an endpoint by wrong signatures, which must be 401: 429 would prove nothing, so they are not counted.
	if (accounts instanceof ApiError && provider === 'xero') return send(req, res, { ...received, status: 401 })
	if (accounts instanceof ApiError) throw accounts
	for (const externalId of accounts) await wakeSyncs(db, await findSyncsOfAccount(db, { provider, externalId, now }), now)
	send(req, res, received)
}

function readSafely(read: () => string[]): string[] | ApiError {
	try {
		return read()
	} catch (cause) {
		if (cause instanceof InvalidProviderWebhook) return new ApiError('invalid_signature', cause.message, { cause })
		throw cause
	}
}

type StripeRequest = Request<{ organizationId: string; id: string }>

/** Nobody makes the server hold bytes for a connection that takes no webhooks. */
async function findSecret({ db, services }: HostedOptions, { params }: StripeRequest, { locals }: Response): Promise<void> {
	const row = await findTokenRow(db, params)
	const isStripe = row && findProvider(row.connection.provider)?.id === 'stripe' && row.connection.status !== 'disabled'
	const opened = isStripe ? openCredentials(services.secrets, params, row.credentials) : {}
	if (!opened)
		throw new ApiError('unavailable', 'The server lacks the key with which the credentials of the connection were sealed.')
	locals.secret = opened.webhookSecret
	if (locals.secret === undefined) throw new ApiError('route_not_found', 'No account sends its webhooks here.')
}

async function takeOfStripe({ db, now: clock }: HostedOptions, req: StripeRequest, res: Response): Promise<void> {
	const now = clock()
	// Loaded here: it loads Stripe's SDK, which other servers do not need.
	const { readSigned } = await import('../../platform/outside/payments/webhook-signature.ts')
	try {
		readSigned(bytesOf(req), req.headers['stripe-signature'], res.locals.secret, now)
	} catch (cause) {
		if (cause instanceof InvalidWebhook) throw new ApiError('invalid_signature', cause.message, { cause })
		throw cause
	}
	const { organizationId, id: connectionId } = req.params
	await wakeSyncs(db, await findSyncsOfConnection(db, { organizationId, connectionId, now }), now)
	send(req, res, received)
}
