// Limits the requests that a caller has under way: a limit per minute says nothing of what a hundred slow ones hold at once.
import type { RequestHandler } from 'express'
import type { RateLimits } from '../../auth/rate-limit.ts'
import { ApiError } from '../../base/errors.ts'
import { visitorOf } from './authenticate.ts'

/** An organization may have as many under way as so many of its keys. */
const keysAtOnce = 2

/** A request is under way until its answer has been sent or its connection is closed. `most` 0 means no limit. */
export function limitUnderWay(most: number, limits: RateLimits): RequestHandler {
	const underWay = new Map<string, number>()
	const require = (who: string, whose: string, limit: number) => {
		const count = underWay.get(who) ?? 0
		if (count < limit) return
		const detail = `This ${whose} has ${count} requests under way, the most that it may have; try again in 1 s.`
		throw new ApiError('rate_limited', detail, { headers: { 'Retry-After': '1' } })
	}
	const add = (who: string, change: 1 | -1) => {
		const count = (underWay.get(who) ?? 0) + change
		if (count === 0) underWay.delete(who)
		else underWay.set(who, count)
	}
	return (req, res, next) => {
		if (most === 0) return next()
		const { caller } = req.context
		const who = caller?.id ?? visitorOf(limits, req)
		require(who, caller ? (caller.session ? 'person' : 'key') : 'address', most)
		if (caller) require(caller.organizationId, 'organization', keysAtOnce * most)
		const all = caller ? [who, caller.organizationId] : [who]
		for (const one of all) add(one, 1)
		res.on('close', () => {
			for (const one of all) add(one, -1)
		})
		next()
	}
}
