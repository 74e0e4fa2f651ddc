// Routes for load balancers, which no limit concerns: `/health` says that the process runs, `/ready` that it takes requests for a while
// yet, and its database changes.
import express, { type RequestHandler, type Router } from 'express'
import { ApiError } from '../../base/errors.ts'
import { type Database, unavailability } from '../../db/database.ts'
import { retryAfter, send } from '../answers.ts'
import { rejectMethod } from './find-operation.ts'

/** Tells whether the server is about to end. */
export type IsEnding = () => boolean

export function systemRoutes(db: Database, isEnding: IsEnding): Router {
	const router = express.Router()
	router.get('/health', answer('{"ok":true}'))
	router.get('/ready', requireStay(isEnding), requireDatabase(db), answer('{"ok":true}'))
	router.all(['/health', '/ready'], (req) => {
		rejectMethod(req, ['GET'])
	})
	return router
}

const answer =
	(text: string): RequestHandler =>
	(req, res) =>
		send(req, res, { status: 200, headers: {}, text })

const requireStay =
	(isEnding: IsEnding): RequestHandler =>
	(_req, _res, next) => {
		if (isEnding()) throw new ApiError('unavailable', 'The server is ending.', { headers: retryAfter })
		next()
	}

/** No limit concerns it, so all who ask at once get the answer to one question. */
function requireDatabase(db: Database): RequestHandler {
	let asked: Promise<void> | undefined
	return async (_req, _res, next) => {
		asked ??= db.ready().finally(() => {
			asked = undefined
		})
		await asked.catch((cause) => {
			const detail = `${unavailability(cause) ?? 'The server cannot reach its database'}.`
			throw new ApiError('unavailable', detail, { cause, headers: retryAfter })
		})
		next()
	}
}
