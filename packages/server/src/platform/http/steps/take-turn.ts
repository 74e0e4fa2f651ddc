// Lets requests go on in turns when more arrive at once than a turn of the event loop has time for.
import type { RequestHandler } from 'express'
import type { RateLimits } from '../../auth/rate-limit.ts'
import { loopTurns } from '../../fair/turns.ts'
import type { Load } from '../load.ts'
import { visitorOf } from './authenticate.ts'

/** A request that waits counts as load. One whose client hangs up meanwhile is dropped. */
export function takeTurn(limits: RateLimits, load: Load): RequestHandler {
	return (req, res, next) => {
		const { caller } = req.context
		if (load.shedAboveShare(caller, req, res)) return
		if (loopTurns.hasRoom()) return next()
		load.begin(caller)
		loopTurns.wait(caller?.organizationId ?? visitorOf(limits, req), () => {
			load.end(caller)
			if (!res.closed) next()
		})
	}
}
