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
/** How many may wait: the last of them for ten seconds. Those beyond are answered at once, and their connections closed. */
const mostWaiting = 1_000

/**
 * A connection on which a refusal waits is cut by the next: whoever asks ahead without a look at the answers gets none. A refusal
 * whose client has gone leaves its place.
 */
export function holdRefusals(limits: RateLimits): ErrorRequestHandler {
	const queues = new Map<string, Refusals>()
	const waiting = new WeakSet<Socket>()
	return (error, req, res, next) => {
		const { context, socket } = req
		if (!(error instanceof ApiError) || error.status !== 429 || context.wasHeld) return next(error)
		context.wasHeld = true
		if (waiting.has(socket)) return void socket.destroy()
		const who = context.caller?.organizationId ?? visitorOf(limits, req)
		const queue = queues.get(who) ?? new Refusals(() => queues.delete(who))
		queues.set(who, queue)
		if (queue.length >= mostWaiting) {
			res.setHeader('Connection', 'close')
			return next(error)
		}
		waiting.add(socket)
		const leave = queue.wait(() => {
			waiting.delete(socket)
			next(error)
		})
		res.once('close', () => {
			waiting.delete(socket)
			leave()
		})
	}
}

interface Refusal {
	/** By `performance.now()`. */
	readonly since: number
	readonly answer: () => void
}

/** The refusals of one caller, answered one by one. */
class Refusals {
	readonly #ended: () => void
	readonly #waiting: Refusal[] = []
	#timer: NodeJS.Timeout | undefined
	#answeredAt = 0

	constructor(ended: () => void) {
		this.#ended = ended
	}

	get length(): number {
		return this.#waiting.length
	}

	/** Returns what takes it back, if it still waits. */
	wait(answer: () => void): () => void {
		const refusal = { since: performance.now(), answer }
		this.#waiting.push(refusal)
		this.#timer ??= this.#next()
		return () => {
			const at = this.#waiting.indexOf(refusal)
			if (at < 0) return
			this.#waiting.splice(at, 1)
			if (at > 0) return
			clearTimeout(this.#timer)
			this.#timer = this.#next()
		}
	}

	#next(): NodeJS.Timeout | undefined {
		const [first] = this.#waiting
		if (!first) return void this.#ended()
		const at = Math.max(first.since + leastMs, this.#answeredAt + apartMs)
		const answer = () => {
			this.#answeredAt = performance.now()
			this.#waiting.shift()
			this.#timer = this.#next()
			first.answer()
		}
		// One behind a long turn of the event loop is due already.
		return setTimeout(answer, Math.max(0, Math.ceil(at - performance.now())))
	}
}
