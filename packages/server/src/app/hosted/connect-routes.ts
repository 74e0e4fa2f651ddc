// The pages of a link by which a person connects an account. The form of a page works in the browser that opened it only: otherwise a stranger's page
// could post it, and connect a visitor's account with the stranger's organization.

import express, { type Request, type RequestHandler, type Response, type Router } from 'express'
import {
	beginByLink,
	credentialsOf,
	giveCredentials,
	hintOf,
	type OpenLink,
	openLink,
	randomToken,
} from '../../integration/doors.ts'
import { ApiError, methodNotAllowed } from '../../platform/base/errors.ts'
import { send } from '../../platform/http/answers.ts'
import { hangUpSignal, originOf } from '../../platform/http/request-context.ts'
import { pageHeaders } from '../../platform/rendering/pages/headers.ts'
import type { ConnectResult } from '../../platform/rendering/words/words.ts'
import { type ConnectProblem, connectPage, resultPage } from './connect-page.ts'
import { type HostedOptions, languageOf, redirect, sendPage } from './routes.ts'

const path = '/connect/:token'
const operation = 'pages.connect'
const visitor = { type: 'client_link', id: null } as const

type LinkRequest = Request<{ token: string }>

export function connectRoutes(options: HostedOptions): Router {
	const router = express.Router()
	router
		.route(path)
		.get((req, res) => show(options, req, res))
		.post(readForm, (req, res) => take(options, req, res))
		.all(({ path, method }) => {
			throw methodNotAllowed(path, method, 'GET, HEAD, POST')
		})
	return router
}

const parse = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 10 })

const readForm: RequestHandler = (req, res, next) =>
	parse(req, res, (cause) => next(cause ? new ApiError('invalid_request', 'This is no form of the page.', { cause }) : undefined))

const browserForm = /^[A-Za-z0-9_-]{43}$/

/** The secret of the browser; undefined when it has none. `__Host-`: no other host can set it. */
export function browserOf({ services }: HostedOptions, { headers }: Pick<Request, 'headers'>): string | undefined {
	const name = cookieName(services.baseUrl)
	const value = (headers.cookie ?? '')
		.split(';')
		.map((pair) => pair.trim().split('='))
		.find(([key]) => key === name)?.[1]
	return value !== undefined && browserForm.test(value) ? value : undefined
}

const isSafe = (baseUrl: string) => baseUrl.startsWith('https:')
const cookieName = (baseUrl: string) => (isSafe(baseUrl) ? '__Host-remit_connect' : 'remit_connect')
/** Lax, since the provider leads back to the callback. As long as a link works. */
const cookieOf = (baseUrl: string, browser: string) =>
	`${cookieName(baseUrl)}=${browser}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax${isSafe(baseUrl) ? '; Secure' : ''}`

const checksOf = ({ services }: HostedOptions, browser: string, token: string) =>
	services.secrets.tokens('connect form', `${browser} ${token}`)

async function show(options: HostedOptions, req: LinkRequest, res: Response): Promise<void> {
	const { db, services, now } = options
	const link = await openLink(db, services, req.params.token, now())
	if (!link) throw gone()
	if (link.result !== 'open') return sendResult(req, res, 410, links[link.result])
	sendForm(options, req, res, link)
}

const gone = () => new ApiError('client_link_not_found', 'There is no such link, or another replaced it.')

const links = { link_used: 'linkUsed', link_expired: 'linkExpired', link_exhausted: 'linkExhausted' } as const

export const sendResult = (
	req: Request,
	res: Response,
	status: number,
	result: ConnectResult,
	details?: Parameters<typeof resultPage>[2],
): void => sendPage(req, res, status, resultPage(languageOf(req, res), result, details))

interface Failed {
	readonly problem: ConnectProblem
	readonly username?: string | undefined
}

function sendForm(options: HostedOptions, req: LinkRequest, res: Response, link: OpenLink, failed?: Failed): void {
	const { services } = options
	const browser = browserOf(options, req) ?? randomToken()
	const check = checksOf(options, browser, req.params.token).get(services.secrets.keyIds[0]) as string
	const text = connectPage(languageOf(req, res), { ...link, check, ...failed })
	const headers = { ...pageHeaders(link.targets), 'Set-Cookie': cookieOf(services.baseUrl, browser) }
	send(req, res, { status: failed ? 422 : 200, headers, text })
}

async function take(options: HostedOptions, req: LinkRequest, res: Response): Promise<void> {
	const { db, services, now } = options
	const { token } = req.params
	const link = await openLink(db, services, token, now())
	if (!link) throw gone()
	if (link.result !== 'open') return sendResult(req, res, 410, links[link.result])
	const form = (req.body ?? {}) as Readonly<Record<string, unknown>>
	const browser = browserOf(options, req)
	if (browser === undefined || !isOwnForm(req) || ![...checksOf(options, browser, token).values()].includes(String(form.check)))
		return sendResult(req, res, 403, 'otherBrowser')
	const write = { db, services, origin: originOf(req, visitor, operation, now()) }
	if (link.fields.length === 0) {
		const url = await beginByLink(write, link, browser)
		if (url === undefined) throw gone()
		return redirect(req, res, url)
	}
	const credentials = credentialsOf(link.fields, form)
	if (!credentials) return sendForm(options, req, res, link, { problem: { name: 'missing' } })
	const given = await giveCredentials(write, link, credentials, hangUpSignal(req))
	if (given.result === 'gone') throw gone()
	if (given.result === 'connected') {
		const { connection, returnUrl } = given
		return sendResult(req, res, 200, 'connected', { connection: connection.name, returnUrl })
	}
	const { isRefused, reason } = given
	const problem: ConnectProblem = isRefused ? { name: 'refused' } : { name: 'untested', detail: reason }
	// A user name that is no address may be a key.
	const { username } = credentials
	sendForm(options, req, res, link, { problem, username: hintOf(credentials) === username ? username : undefined })
}

/** Browsers say it of each form, but over http on other hosts than their own machine. */
const isOwnForm = ({ headers }: Request) => ['same-origin', undefined].includes(headers['sec-fetch-site'] as string | undefined)
