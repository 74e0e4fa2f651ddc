// Lets a refusal by a limit wait before it is answered. A caller that asks again as soon as it is refused would otherwise take the time of all
// others with refusals.
import type { Socket } from 'node:net'
import type { ErrorRequestHandler } from 'express'
import type { RateLimits } from '../../auth/rate-limit.ts'
import { ApiError } from '../../base/errors.ts'
import { visitorOf } from './authenticate.ts'

/** How long a refusal takes. */
const leastMs = 250
/** The time between two refusals of an organization, or of a visitor's network. */
const apartMs = 10
/** How long a refusal may wait for those before it; after that the connection is closed in its place. */
const mostMs = 10_000

/**
 * A connection on which a refusal waits is closed by the next: whoever asks ahead without a look at the answers gets none. A refusal
 * whose client has gone is dropped.
 */
export function holdRefusals(limits: RateLimits): ErrorRequestHandler {
	/** When the last of each that waits is answered, by `performance.now()`. */
	const lastOf = new Map<string, number>()
	const waiting = new WeakSet<Socket>()
	return (error, req, res, next) => {
		const { context, socket } = req
		if (!(error instanceof ApiError) || error.status !== 429 || context.isHeld) return next(error)
		context.isHeld = true
		const who = context.caller?.organizationId ?? visitorOf(limits, req)
		const now = performance.now()
		const at = Math.max(now + leastMs, (lastOf.get(who) ?? 0) + apartMs)
		if (waiting.has(socket) || at > now + mostMs) return void socket.destroy()
		lastOf.set(who, at)
		waiting.add(socket)
		const end = () => {
			clearTimeout(timer)
			waiting.delete(socket)
			if (lastOf.get(who) === at) lastOf.delete(who)
		}
		const timer = setTimeout(() => {
			end()
			next(error)
		}, at - now)
		res.once('close', end)
	}
}
