// Where a browser comes back to from a provider, after a person let Remit in there, or did not.
import express, { type Router } from 'express'
import { methodNotAllowed } from '../base/errors.ts'
import { callbackPath, conclude } from '../connections/authorize.ts'
import { isViewed, originOf } from '../http/request-context.ts'
import { connectionPage } from '../rendering/pages/connection-page.ts'
import { type HostedOptions, redirect, sendPage } from './routes.ts'

const statuses = { unknown: 404, used: 410, expired: 410, denied: 403, failed: 502 } as const

export function connectionRoutes({ db, services, now }: HostedOptions): Router {
	const router = express.Router()
	router
		.route(callbackPath)
		.get(async (req, res) => {
			// A state works once: who only looks ahead must not use it up.
			if (!isViewed(req)) return sendPage(req, res, 404, connectionPage('unknown'))
			const origin = originOf(req, { type: 'system', id: null }, 'pages.connect', now())
			const url = new URL(services.baseUrl + callbackPath)
			url.search = req.originalUrl.split('?').slice(1).join('?')
			const concluded = await conclude(db, { origin, services }, url)
			if (concluded.result === 'connected') {
				const { connection, returnUrl } = concluded
				if (returnUrl !== null) return redirect(req, res, returnUrl)
				return sendPage(req, res, 200, connectionPage('connected', connection.name))
			}
			const reason = 'reason' in concluded ? concluded.reason : ''
			sendPage(req, res, statuses[concluded.result], connectionPage(concluded.result, reason))
		})
		.all(({ path, method }) => {
			throw methodNotAllowed(path, method, 'GET, HEAD')
		})
	return router
}
