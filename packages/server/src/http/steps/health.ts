// Routes for load balancers, which no limit concerns: `/health` says that the process runs, `/ready` that it reaches its database.
import express, { type RequestHandler, type Router } from 'express'
import { ApiError } from '../../base/errors.ts'
import type { Database } from '../../db/database.ts'
import { probe } from '../../db/probe.ts'
import { send } from '../answers.ts'
import { rejectMethod } from './find-operation.ts'

export function systemRoutes(db: Database): Router {
	const router = express.Router()
	router.get('/health', answer('{"ok":true}'))
	router.get('/ready', requireDatabase(db), answer('{"ok":true}'))
	router.all(['/health', '/ready'], (req) => {
		rejectMethod(req, ['GET'])
	})
	return router
}

const answer =
	(text: string): RequestHandler =>
	(req, res) =>
		send(req, res, { status: 200, headers: {}, text })

function requireDatabase(db: Database): RequestHandler {
	return async (_req, _res, next) => {
		await probe(db).catch((cause) => {
			throw new ApiError('unavailable', 'The server cannot reach its database.', { cause })
		})
		next()
	}
}
