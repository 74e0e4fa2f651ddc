// Serves the web application at `/app`. Every address below it without a file ending is a page; a missing file is 404, never a page,
// since a browser would run it as a script.
import express, { type Router } from 'express'
import { ApiError } from '../../platform/base/errors.ts'
import { send } from '../../platform/http/answers.ts'
import { rejectMethod } from '../../platform/http/steps/find-operation.ts'
import { sendStatic } from '../../platform/http/steps/static-answer.ts'
import { fileHeaders, pageHeaders } from './headers.ts'
import type { WebPages } from './pages.ts'

export function webRoutes(pages: WebPages): Router {
	const router = express.Router()
	router.get('/', (req, res) => {
		send(req, res, { status: 302, headers: { Location: '/app', 'Cache-Control': 'no-cache' } })
	})
	router.get(/^\/app(\/|$)/, (req, res) => {
		const path = req.path.slice('/app'.length)
		if (!/\.\w+$/.test(path)) return sendStatic(req, res, pages.pageOf(path), pageHeaders)
		const file = pages.files.get(path.slice(1))
		if (!file) throw new ApiError('route_not_found', `There is no ${req.path}; the pages may be of another version now.`)
		return sendStatic(req, res, file, fileHeaders(path))
	})
	router.all([/^\/$/, /^\/app(\/|$)/], (req) => {
		rejectMethod(req, ['GET'])
	})
	return router
}
