// Routes for load balancers, which no limit concerns: `/health` says that the process has started and runs, `/ready` that it takes requests
// for a while yet, and its database changes.
import express, { type RequestHandler, type Router } from 'express'
import { ApiError } from '../../base/errors.ts'
import { type Database, unavailability } from '../../db/database.ts'
import { retryAfter, send } from '../answers.ts'
import { rejectMethod } from './find-operation.ts'

/** Tells how far the server is: ending begins before it takes no more requests. */
export type PhaseOf = () => 'starting' | 'running' | 'ending'

export function systemRoutes(db: Database, phaseOf: PhaseOf): Router {
	const router = express.Router()
	router.use(['/health', '/ready'], refuseIn('starting', phaseOf))
	router.get('/health', answer('{"ok":true}'))
	router.get('/ready', refuseIn('ending', phaseOf), requireDatabase(db), answer('{"ok":true}'))
	router.all(['/health', '/ready'], (req) => {
		rejectMethod(req, ['GET'])
	})
	return router
}

const answer =
	(text: string): RequestHandler =>
	(req, res) =>
		send(req, res, { status: 200, headers: {}, text })

const refuseIn =
	(phase: ReturnType<PhaseOf>, phaseOf: PhaseOf): RequestHandler =>
	(_req, _res, next) => {
		if (phaseOf() === phase) throw new ApiError('unavailable', `The server is ${phase}.`, { headers: retryAfter })
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
