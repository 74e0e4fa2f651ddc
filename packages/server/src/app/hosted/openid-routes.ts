// Signing in at the server's OpenID Connect provider: the way there, and back. Both end at the page to sign in, which says how it went.

import { parseCookie, stringifySetCookie } from 'cookie'
import express, { type Request, type RequestHandler, type Response, type Router } from 'express'
import { enterByIdentity } from '../../accounts/doors.ts'
import { setCookie } from '../../platform/auth/session-cookie.ts'
import { longestMs } from '../../platform/auth/session-store.ts'
import { ApiError, methodNotAllowed } from '../../platform/base/errors.ts'
import { send } from '../../platform/http/answers.ts'
import { isViewed, originOf } from '../../platform/http/request-context.ts'
import { countGuess } from '../../platform/http/steps/authenticate.ts'
import { TokenFailed } from '../../platform/outside/providers/oauth.ts'
import { OpenIdProvider, type SignInChecks } from '../../platform/outside/providers/openid.ts'
import type { HostedOptions } from './routes.ts'

const callbackPath = '/openid/callback'

/** As the page to sign in reads it in `openid`. */
type Outcome = 'done' | 'denied' | 'unverified' | 'unknown' | 'failed'

/** What the browser keeps while the person is at the provider. */
interface Trip extends SignInChecks {
	/** The path below /app to come back to; the page decides whether there is such a page. */
	readonly returnTo: string
}

export function openIdRoutes(options: HostedOptions): Router {
	const router = express.Router()
	const { openId, egress } = options.services
	if (!openId) return router
	const provider = new OpenIdProvider(egress, openId)
	const only: RequestHandler = ({ path, method }) => {
		throw methodNotAllowed(path, method, 'GET, HEAD')
	}
	router.route('/openid/sign-in').get(leave(options, provider)).all(only)
	router.route(callbackPath).get(comeBack(options, provider)).all(only)
	return router
}

const leave =
	({ services }: HostedOptions, provider: OpenIdProvider): RequestHandler =>
	async (req, res) => {
		const { returnTo } = req.query
		const path = typeof returnTo === 'string' ? returnTo.slice(0, 500) : '/'
		// Another site's link would sign its visitor in without a word.
		const isOwn = ['same-origin', 'none', undefined].includes(req.headers['sec-fetch-site'] as string | undefined)
		if (!isOwn || !isViewed(req)) return redirect(req, res, pageOf(path))
		try {
			const { url, checks } = await provider.begin(services.baseUrl + callbackPath)
			redirect(req, res, url, tripCookie(services.baseUrl, { ...checks, returnTo: path }))
		} catch (error) {
			note(req, error)
			redirect(req, res, pageOf(path, 'failed'))
		}
	}

const comeBack =
	(options: HostedOptions, provider: OpenIdProvider): RequestHandler =>
	async (req, res) => {
		const { services, limits } = options
		const trip = tripOf(req, services.baseUrl)
		const end = async (outcome: Outcome, cookie = tripCookie(services.baseUrl, undefined)) => {
			if (outcome !== 'done') await countGuess(limits, 'link', req)
			redirect(req, res, pageOf(trip?.returnTo ?? '/', outcome), cookie)
		}
		if (!trip || !isViewed(req)) return end('failed')
		try {
			const entered = await enter(options, provider, req, trip)
			if (typeof entered === 'string') return end(entered)
			// The trip's cookie goes by itself: the provider takes its code once.
			await end('done', setCookie(services.baseUrl, entered.token, longestMs / 1000))
		} catch (error) {
			note(req, error)
			await end(error instanceof TokenFailed && error.code === 'authorization_denied' ? 'denied' : 'failed')
		}
	}

async function enter({ db, services, now }: HostedOptions, provider: OpenIdProvider, req: Request, trip: Trip) {
	const url = new URL(services.baseUrl + callbackPath)
	url.search = req.originalUrl.split('?').slice(1).join('?')
	const identity = await provider.finish(url, trip)
	const origin = originOf(req, { type: 'system', id: null }, 'pages.openid', now())
	const userAgent = req.headers['user-agent'] ?? null
	try {
		return await enterByIdentity(db, { identity, userAgent, origin })
	} catch (error) {
		// The invitation ended, or the address was taken, meanwhile.
		if (error instanceof ApiError && error.status < 500) return 'unknown'
		throw error
	}
}

/** What the provider did is no error of the server; what the database did is. */
function note({ context: { log, requestId } }: Request, err: unknown): void {
	if (err instanceof TokenFailed) log.warn({ err, requestId }, 'a person could not sign in at the OpenID Connect provider')
	else log.error({ err, requestId }, 'a person could not sign in by OpenID Connect')
}

const pageOf = (returnTo: string, openid?: Outcome) =>
	`/app/sign-in?${new URLSearchParams({ ...(returnTo !== '/' && { returnTo }), ...(openid && { openid }) })}`

function redirect(req: Request, res: Response, url: string, cookie?: string): void {
	const headers = { Location: url, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }
	send(req, res, { status: 303, headers: { ...headers, ...(cookie !== undefined && { 'Set-Cookie': cookie }) } })
}

const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')
const cookieName = (baseUrl: string) => (isSecure(baseUrl) ? '__Host-remit_openid' : 'remit_openid')

/** Lax, since the provider leads back here. Its holder may read and change it: it protects nobody else. */
const tripCookie = (baseUrl: string, trip: Trip | undefined): string =>
	stringifySetCookie({
		name: cookieName(baseUrl),
		value: trip ? Buffer.from(JSON.stringify(trip)).toString('base64url') : '',
		maxAge: trip ? 600 : 0,
		path: '/',
		httpOnly: true,
		secure: isSecure(baseUrl),
		sameSite: 'lax',
	})

function tripOf({ headers }: Request, baseUrl: string): Trip | undefined {
	try {
		const sent = parseCookie(headers.cookie ?? '')[cookieName(baseUrl)]
		const { state, nonce, verifier, returnTo } = JSON.parse(Buffer.from(sent ?? '', 'base64url').toString())
		const trip = { state, nonce, verifier, returnTo }
		return Object.values(trip).every((value) => typeof value === 'string') ? trip : undefined
	} catch {
		return undefined
	}
}
