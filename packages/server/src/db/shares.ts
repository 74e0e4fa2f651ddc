// A limited number of transactions or reads at once, shared fairly: an organization may have half of what the others leave, and whoever
// waits is let in organization by organization. However much some organizations ask for, one more finds room or is next in turn.

interface Waiter {
	admit(): void
}

interface Limits {
	/** How many run at once. */
	readonly size: number
	readonly patienceMs: number
}

/** How many more one may have who has `own` of all that run: half of what the others leave. */
export const fairRoom = (size: number, running: number, own: number): number =>
	Math.max(0, Math.ceil((size - (running - own)) / 2) - own)

export class Shares {
	readonly #limits: Limits
	#running = 0
	readonly #runningOf = new Map<string, number>()
	/** The organizations that wait, the one whose turn is next first. */
	readonly #waiting = new Map<string, Waiter[]>()

	constructor(limits: Limits) {
		this.#limits = limits
	}

	/** How many wait for room. */
	get waiting(): number {
		return [...this.#waiting.values()].flat().length
	}

	/** Runs the work once there is room for the organization; throws when there is none for `patienceMs`. */
	async run<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
		if (!this.#take(organizationId)) await new Promise<void>((admit, reject) => this.#wait(organizationId, admit, reject))
		try {
			return await work()
		} finally {
			this.leave(organizationId)
		}
	}

	/** Calls `admit` once there is room, which `leave` gives back, or `reject` when there is none for `patienceMs`. */
	enter(organizationId: string, admit: () => void, reject: (error: Error) => void): void {
		if (this.#take(organizationId)) admit()
		else this.#wait(organizationId, admit, reject)
	}

	#take(organizationId: string): boolean {
		const running = this.#runningOf.get(organizationId) ?? 0
		if (fairRoom(this.#limits.size, this.#running, running) === 0) return false
		this.#running++
		this.#runningOf.set(organizationId, running + 1)
		return true
	}

	#wait(organizationId: string, admit: () => void, reject: (error: Error) => void): void {
		const waiters = this.#waiting.get(organizationId) ?? []
		const waiter = {
			admit() {
				clearTimeout(timer)
				admit()
			},
		}
		const timer = setTimeout(() => {
			waiters.splice(waiters.indexOf(waiter), 1)
			if (waiters.length === 0) this.#waiting.delete(organizationId)
			reject(new Error('timeout exceeded when waiting for a connection'))
		}, this.#limits.patienceMs)
		waiters.push(waiter)
		this.#waiting.set(organizationId, waiters)
	}

	leave(organizationId: string): void {
		const running = (this.#runningOf.get(organizationId) as number) - 1
		if (running === 0) this.#runningOf.delete(organizationId)
		else this.#runningOf.set(organizationId, running)
		this.#running--
		for (const [next, waiters] of this.#waiting) {
			if (this.#running === this.#limits.size) return
			if (!this.#take(next)) continue
			this.#waiting.delete(next)
			const first = waiters.shift()
			if (waiters.length > 0) this.#waiting.set(next, waiters)
			first?.admit()
		}
	}
}
