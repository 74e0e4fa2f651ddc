// For load balancers: `/health` says that the process runs, `/ready` that it reaches its database.
import type { RequestHandler } from 'express'
import { ApiError } from '../base/errors.ts'
import type { Database } from '../db/database.ts'
import { probe } from '../db/probe.ts'
import { send } from './request-context.ts'

export function checkReady(db: Database): RequestHandler {
	return async (req, res) => {
		try {
			await probe(db)
		} catch (error) {
			throw new ApiError('unavailable', 'The server cannot reach its database.', { cause: error })
		}
		send(req, res, { status: 200, headers: {}, text: '{"ok":true}' })
	}
}
