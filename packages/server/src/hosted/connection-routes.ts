// Where a browser comes back to from a provider, after a person let Remit in there, or did not.
import express, { type Request, type Response, type Router } from 'express'
import { methodNotAllowed } from '../base/errors.ts'
import { ask, callbackPath, conclude } from '../connections/authorize.ts'
import { isViewed, originOf } from '../http/request-context.ts'
import { connectionPage, questionPage } from '../rendering/pages/connection-page.ts'
import { browserOf } from './connect-routes.ts'
import { type HostedOptions, sendPage } from './routes.ts'

const statuses = { unknown: 404, used: 410, expired: 410, denied: 403, failed: 502 } as const

export function connectionRoutes(options: HostedOptions): Router {
	const { db, services, now } = options
	const urlOf = ({ originalUrl }: Request) => {
		const url = new URL(services.baseUrl + callbackPath)
		url.search = originalUrl.split('?').slice(1).join('?')
		return url
	}
	const finish = async (req: Request, res: Response) => {
		const origin = originOf(req, { type: 'system', id: null }, 'pages.connect', now())
		const concluded = await conclude(db, { origin, services }, urlOf(req))
		if (concluded.result === 'connected') {
			const { connection, returnUrl } = concluded
			return sendPage(req, res, 200, connectionPage('connected', connection.name, returnUrl))
		}
		if (concluded.result === 'denied' || concluded.result === 'failed') {
			const { result, reason, isByLink } = concluded
			return sendPage(req, res, statuses[result], connectionPage(isByLink ? `${result}_by_link` : result, reason))
		}
		sendPage(req, res, statuses[concluded.result], connectionPage(concluded.result))
	}
	const router = express.Router()
	router
		.route(callbackPath)
		.get(async (req, res) => {
			const url = urlOf(req)
			// There is nothing to ask; but a state works once, and who only looks ahead must not use it up.
			if (url.searchParams.has('error') && isViewed(req)) return finish(req, res)
			const asked = await ask(db, now(), url, browserOf(options, req))
			if (asked.result === 'asked' && asked.isSaid && isViewed(req)) return finish(req, res)
			if (asked.result === 'asked') return sendPage(req, res, 200, questionPage(asked, url.search))
			sendPage(req, res, statuses[asked.result], connectionPage(asked.result))
		})
		.post(finish)
		.all(({ path, method }) => {
			throw methodNotAllowed(path, method, 'GET, HEAD, POST')
		})
	return router
}
