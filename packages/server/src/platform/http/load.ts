// Sheds requests when the server has more to do than it can. A request that would wait for long is answered 503 at once, which
// costs a fraction of serving it, so that those under way are answered in time. Those who ask for most are shed first: an organization
// with less than its share under way is still served. Load balancers' probes are always answered.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Logger } from 'pino'
import type { Caller } from '../auth/caller.ts'
import { ApiError, problem } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { defaults } from './answers.ts'

export interface LoadLimits {
	readonly SHED_ABOVE_REQUESTS: number
	readonly SHED_ABOVE_DELAY_MS: number
}

/** The delay is a mean over this time. */
const measureMs = 500
/** How often the monitor looks; its delays contain this time. */
const resolutionMs = 20
const retryAfterSeconds = 1

export class Load {
	readonly #limits: LoadLimits
	readonly #log: Logger
	readonly #monitor = monitorEventLoopDelay({ resolution: resolutionMs })
	readonly #timer: NodeJS.Timeout
	/** The delay in the last span, and in the one before. */
	#delayMs = 0
	#delayBeforeMs = 0
	#underWay = 0
	/** The requests under way of each owner that has any. */
	readonly #underWayOf = new Map<string, number>()
	#shed = 0

	constructor(limits: LoadLimits, log: Logger) {
		this.#limits = limits
		this.#log = log
		this.#monitor.enable()
		this.#timer = setInterval(() => this.#measure(), measureMs).unref()
	}

	/** A valid request has reached its handler. What clients make last, such as an upload, does not count: they could shed all. */
	begin(caller: Caller | undefined): void {
		const owner = ownerOf(caller)
		this.#underWay++
		this.#underWayOf.set(owner, (this.#underWayOf.get(owner) ?? 0) + 1)
	}

	end(caller: Caller | undefined): void {
		const owner = ownerOf(caller)
		this.#underWay--
		const others = (this.#underWayOf.get(owner) ?? 0) - 1
		if (others > 0) this.#underWayOf.set(owner, others)
		else this.#underWayOf.delete(owner)
	}

	/** Answers a request 503 if there is no room for it, whoever sent it; returns whether it did. */
	shed(req: IncomingMessage, res: ServerResponse): boolean {
		if (!this.#isOver() || isProbe.test(req.url as string)) return false
		this.#refuse(req, res)
		return true
	}

	/** As `shed`, when there is no room and the request's owner has its share already, or more. */
	shedAboveShare(caller: Caller | undefined, req: IncomingMessage, res: ServerResponse): boolean {
		const { SHED_ABOVE_REQUESTS } = this.#limits
		if (this.#underWay < SHED_ABOVE_REQUESTS) return false
		const own = this.#underWayOf.get(ownerOf(caller)) ?? 0
		const owners = this.#underWayOf.size + (own === 0 ? 1 : 0)
		if (own * owners < SHED_ABOVE_REQUESTS) return false
		this.#refuse(req, res)
		return true
	}

	close(): void {
		clearInterval(this.#timer)
		this.#monitor.disable()
	}

	/** Shares may add up to more than there is room for. A single long turn of the event loop is no overload: the delay counts when it lasts for two spans. */
	#isOver(): boolean {
		const { SHED_ABOVE_REQUESTS, SHED_ABOVE_DELAY_MS } = this.#limits
		return this.#underWay >= 2 * SHED_ABOVE_REQUESTS || Math.min(this.#delayMs, this.#delayBeforeMs) > SHED_ABOVE_DELAY_MS
	}

	#measure(): void {
		this.#delayBeforeMs = this.#delayMs
		this.#delayMs = this.#monitor.count === 0 ? 0 : this.#monitor.mean / 1e6 - resolutionMs
		this.#monitor.reset()
	}

	#refuse(req: IncomingMessage, res: ServerResponse): void {
		if (this.#shed++ === 0) setTimeout(() => this.#report(), 1_000).unref()
		const requestId = newId('req')
		const text = JSON.stringify(problem(overloaded, (req.url as string).split('?', 1)[0] as string, requestId))
		res.writeHead(overloaded.status, {
			...defaults,
			'Content-Type': 'application/problem+json',
			'Content-Length': Buffer.byteLength(text),
			'Retry-After': retryAfterSeconds,
			'X-Request-Id': requestId,
		})
		res.end(text)
	}

	/** One line for all that was shed in a second. */
	#report(): void {
		const fields = { shed: this.#shed, underWay: this.#underWay, loopDelayMs: Math.round(this.#delayMs) }
		this.#log.warn(fields, 'requests were answered 503, because the server has too much to do')
		this.#shed = 0
	}
}

/** Whose load a request is. All visitors together are one owner: anybody can have many addresses. */
const ownerOf = (caller: Caller | undefined): string => caller?.organizationId ?? 'visitors'

const isProbe = /^\/(health|ready)(\?|$)/

const overloaded = new ApiError('unavailable', `The server has too much to do; try again in ${retryAfterSeconds} s.`)
