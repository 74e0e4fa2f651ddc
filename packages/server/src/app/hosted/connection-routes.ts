// Where a browser comes back to from a provider, after a person let Remit in there, or did not.

import express, { type Request, type Response, type Router } from 'express'
import { ask, callbackPath, conclude } from '../../integration/doors.ts'
import { methodNotAllowed } from '../../platform/base/errors.ts'
import { isViewed, originOf } from '../../platform/http/request-context.ts'
import { questionPage } from './connect-page.ts'
import { browserOf, sendResult } from './connect-routes.ts'
import { type HostedOptions, languageOf, sendPage } from './routes.ts'

const statuses = { denied: 403, failed: 502 } as const

/** What is said of an address that leads to no authorization. */
const dead = { unknown: [404, 'wrongAddress'], used: [410, 'addressUsed'], expired: [410, 'addressExpired'] } as const

function sendDead(req: Request, res: Response, name: keyof typeof dead): void {
	const [status, result] = dead[name]
	sendResult(req, res, status, result)
}

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
			return sendResult(req, res, 200, 'connected', { connection: connection.name, returnUrl })
		}
		if (concluded.result === 'denied' || concluded.result === 'failed') {
			const { result, reason, isByLink } = concluded
			return sendResult(req, res, statuses[result], isByLink ? 'notByLink' : result, { reason })
		}
		sendDead(req, res, concluded.result)
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
			if (asked.result === 'asked') return sendPage(req, res, 200, questionPage(languageOf(req, res), asked, url.search))
			sendDead(req, res, asked.result)
		})
		.post(finish)
		.all(({ path, method }) => {
			throw methodNotAllowed(path, method, 'GET, HEAD, POST')
		})
	return router
}
