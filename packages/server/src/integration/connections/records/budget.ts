// How many calls to providers this process makes at once: few for each connection, and fair shares for organizations. Who would wait for long is
// told to come back, so that callers who wait are few, whatever a provider does. A call that has no answer yet lends its place to others: those
// that hang would have all places otherwise.
import { graceMs, Lending, type Loan } from '../../../platform/fair/lending.ts'
import { Shares } from '../../../platform/fair/shares.ts'
import { CallFailed } from '../../../platform/outside/providers/json-call.ts'
import type { Services } from '../../../platform/outside/services.ts'
import { isPaused, noPause, type Pause } from '../../../platform/work/backoff.ts'
import type { ConnectionKey } from '../store.ts'
import { ProviderFailed } from './types.ts'

export const budgetLimits = {
	/** Calls of a connection at once: a run, and somebody who looks at a preview meanwhile. */
	callsOfConnection: 2,
	/** Calls of this process that have just begun; each may have an answer of 8 MiB. */
	calls: 16,
	/** Of the answers under way, slow ones come only while all have no more. */
	bytes: 256 * 1024 * 1024,
	/** A connection hangs whose last call took so long: its calls take no place. */
	hangsMs: 5_000,
	waitingOfConnection: 8,
	waitingOfOrganization: 50,
	waiting: 500,
	patienceMs: 10_000,
}

/** Lanes to remember; beyond that, idle ones are dropped. */
const mostLanes = 10_000

interface Lane {
	running: number
	/** Admit the callers that wait, the first one first. */
	readonly waiting: (() => void)[]
	/** What the provider asked for. */
	pause: Pause
	isHanging: boolean
}

/** Called with the bytes of an answer as they come; throws CallFailed when there is no memory for them. */
export type Taken = (bytes: number) => void

interface Owner extends ConnectionKey {
	/** What is known of a connection that this process has not called yet. */
	readonly isFailing?: boolean
}

interface Caller extends Owner {
	readonly now: () => number
	readonly signal: AbortSignal
}

const busy = (why: string, leastMs = 1_000) =>
	new ProviderFailed('limit', 'rate_limited', why, { retryAfterMs: Math.round(leastMs * (1 + 2 * Math.random())) })

export class CallBudget {
	readonly #limits: typeof budgetLimits
	readonly #shares: Shares
	readonly #lending: Lending
	readonly #lanes = new Map<string, Lane>()
	readonly #waitingOf = new Map<string, number>()
	#waiting = 0
	#bytes = 0

	constructor(limits: Partial<typeof budgetLimits> = {}) {
		this.#limits = { ...budgetLimits, ...limits }
		this.#shares = new Shares({ size: this.#limits.calls, patienceMs: this.#limits.patienceMs })
		this.#lending = new Lending(this.#shares)
	}

	/** Runs a call once there is room for it, and counts its memory until `used`; throws ProviderFailed when there will not be soon. */
	async run<A>(caller: Caller, call: (taken: Taken) => Promise<A>, used = async () => {}): Promise<A> {
		const lane = this.#laneOf(caller)
		requireOpen(lane, caller.now())
		const { callsOfConnection, waitingOfConnection } = this.#limits
		if (lane.running < callsOfConnection) lane.running++
		else if (lane.waiting.length >= waitingOfConnection) throw busy('The connection has too many calls under way.')
		else await this.#wait(caller, (admit) => this.#queue(lane, admit))
		try {
			const loan = await this.#place(caller, lane)
			try {
				// Those before may have been told to wait.
				requireOpen(lane, caller.now())
				return await this.#call(lane, loan, call, used)
			} finally {
				loan.leave()
			}
		} finally {
			// Who waits gets the place of who leaves.
			const next = lane.waiting.shift()
			if (next) next()
			else lane.running--
		}
	}

	async #call<A>(lane: Lane, loan: Loan, call: (taken: Taken) => Promise<A>, used: () => Promise<void>): Promise<A> {
		const began = performance.now()
		let own = 0
		const taken = (bytes: number) => {
			if (loan.isLent && this.#bytes + bytes > this.#limits.bytes)
				throw new CallFailed('timeout', 'The answer came too slowly, beside too many others.')
			own += bytes
			this.#bytes += bytes
		}
		try {
			const answer = await call(taken).finally(() => {
				lane.isHanging = performance.now() - began >= this.#limits.hangsMs
			})
			await used()
			return answer
		} finally {
			this.#bytes -= own
		}
	}

	/** A place of those who have just begun, which is lent soon; one that hangs begins without. */
	async #place(caller: Caller, { isHanging }: Lane): Promise<Loan> {
		const { organizationId } = caller
		if (isHanging) {
			const loan = this.#lending.waitWithout(organizationId)
			if (!loan) throw busy('Too many calls to providers wait for an answer.', 30_000)
			return loan
		}
		await this.#share(caller)
		return this.#lending.lend(organizationId, graceMs)
	}

	/** Whether the answers under way have half of the memory. */
	get isCrowded(): boolean {
		return this.#bytes > this.#limits.bytes / 2
	}

	/** Whether the last call of a connection was one to wait for. */
	isHanging(caller: Owner): boolean {
		return this.#laneOf(caller).isHanging
	}

	/** Makes no call of a connection for a while; shortens no pause. */
	hold(key: ConnectionKey, now: number, forMs: number): void {
		const lane = this.#laneOf(key)
		if (forMs <= 0) return
		const pause = { from: now, until: now + forMs }
		if (pause.until > lane.pause.until || !isPaused(lane.pause, now)) lane.pause = pause
	}

	/** Somebody wants to know whether the provider takes calls again. */
	release(key: ConnectionKey): void {
		this.#laneOf(key).pause = noPause
	}

	#laneOf({ organizationId, id, isFailing = false }: Owner): Lane {
		const name = `${organizationId} ${id}`
		const known = this.#lanes.get(name)
		if (known) return known
		if (this.#lanes.size >= mostLanes) for (const [idle, { running }] of this.#lanes) if (running === 0) this.#lanes.delete(idle)
		const lane = { running: 0, waiting: [], pause: noPause, isHanging: isFailing }
		this.#lanes.set(name, lane)
		return lane
	}

	#queue(lane: Lane, admit: () => void): () => void {
		lane.waiting.push(admit)
		return () => {
			const at = lane.waiting.indexOf(admit)
			if (at >= 0) lane.waiting.splice(at, 1)
		}
	}

	async #share(caller: Caller): Promise<void> {
		const { organizationId } = caller
		let isAdmitted = false
		let isGone = false
		let next = () => {}
		const admit = () => {
			isAdmitted = true
			if (isGone) this.#shares.leave(organizationId)
			else next()
		}
		this.#shares.enter(organizationId, admit, () => {})
		if (isAdmitted) return
		await this.#wait(caller, (admitted) => {
			next = admitted
			return () => {
				isGone = true
			}
		}).catch((error) => {
			isGone = true
			throw error
		})
	}

	/** Waits until it is admitted, for as long as the patience lasts and the caller is there. */
	async #wait({ organizationId, signal }: Caller, enter: (admit: () => void) => () => void): Promise<void> {
		const { waiting, waitingOfOrganization, patienceMs } = this.#limits
		const own = this.#waitingOf.get(organizationId) ?? 0
		if (own >= waitingOfOrganization || this.#waiting >= waiting) throw busy('Too many calls to providers wait.')
		signal.throwIfAborted()
		const { promise, resolve, reject } = Promise.withResolvers<void>()
		const leave = enter(resolve)
		const fail = (error: unknown) => {
			// At once, so that nobody admits who is gone.
			leave()
			reject(error)
		}
		const timer = setTimeout(() => fail(busy('No call of the connection could begin in time.')), patienceMs)
		const abort = () => fail(signal.reason)
		signal.addEventListener('abort', abort)
		this.#waiting++
		this.#waitingOf.set(organizationId, own + 1)
		try {
			await promise
		} finally {
			clearTimeout(timer)
			signal.removeEventListener('abort', abort)
			this.#waiting--
			const left = (this.#waitingOf.get(organizationId) ?? 1) - 1
			if (left > 0) this.#waitingOf.set(organizationId, left)
			else this.#waitingOf.delete(organizationId)
		}
	}
}

function requireOpen({ pause }: Lane, now: number): void {
	if (!isPaused(pause, now)) return
	throw new ProviderFailed('limit', 'rate_limited', 'The provider takes no more calls for now.', {
		retryAfterMs: pause.until - now,
	})
}

/** Tests run several servers in one process. */
const budgets = new WeakMap<Services, CallBudget>()

export function budgetOf(services: Services): CallBudget {
	const known = budgets.get(services) ?? new CallBudget()
	budgets.set(services, known)
	return known
}
