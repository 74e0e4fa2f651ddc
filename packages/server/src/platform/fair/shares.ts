// A limited number of things at once, shared fairly: an organization may have half of what the others leave, and whoever waits is let
// in organization by organization. However much some organizations ask for, one more finds room or is next in turn.

interface Waiter {
	admit(): void
}

interface Limits {
	/** How many run at once. */
	readonly size: number
	/** Without it, whoever waits does so until there is room. */
	readonly patienceMs?: number
}

/** Counts what runs, and how much more of it each owner may begin: half of what the others leave, so that there is some for one more. */
export class FairRoom {
	readonly #size: number
	readonly #runningOf = new Map<string, number>()
	#running = 0

	constructor(size: number) {
		this.#size = size
	}

	get running(): number {
		return this.#running
	}

	get left(): number {
		return this.#size - this.#running
	}

	/** `planned` is to begin: how much of it is the owner's, and all. */
	of(owner: string, planned = { own: 0, all: 0 }): number {
		const own = (this.#runningOf.get(owner) ?? 0) + planned.own
		return Math.max(0, Math.ceil((this.left - planned.all + own) / 2) - own)
	}

	/** The owners of what runs that may begin nothing more. */
	full(): string[] {
		return [...this.#runningOf.keys()].filter((owner) => this.of(owner) === 0)
	}

	/** Takes room that belongs to nobody yet; below 0 gives it back. */
	hold(count: number): void {
		this.#running += count
	}

	begin(owner: string): void {
		this.#running++
		this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1)
	}

	end(owner: string): void {
		this.#running--
		const own = (this.#runningOf.get(owner) ?? 0) - 1
		if (own > 0) this.#runningOf.set(owner, own)
		else this.#runningOf.delete(owner)
	}
}

/** Lets work in as there is room for it. */
export class Shares {
	readonly #patienceMs: number | undefined
	readonly #room: FairRoom
	/** The organizations that wait, the one whose turn is next first. */
	readonly #waiting = new Map<string, Waiter[]>()

	constructor({ size, patienceMs }: Limits) {
		this.#patienceMs = patienceMs
		this.#room = new FairRoom(size)
	}

	/** How many wait for room. */
	get waiting(): number {
		return [...this.#waiting.values()].flat().length
	}

	get left(): number {
		return this.#room.left
	}

	/** The organizations that may begin nothing more. */
	full(): string[] {
		return this.#room.full()
	}

	/** Keeps room from those who wait, for what `begin` lets in meanwhile; returns what gives the rest of it back. */
	hold(count: number): () => void {
		this.#room.hold(count)
		return () => {
			this.#room.hold(-count)
			this.#admit()
		}
	}

	/** Lets somebody in without a look at the shares; `leave` gives the room back. */
	begin(organizationId: string): void {
		this.#room.begin(organizationId)
	}

	/** Runs the work once there is room for the organization; throws when there is none for `patienceMs`. */
	async run<T>(organizationId: string, work: () => Promise<T>, patienceMs = this.#patienceMs): Promise<T> {
		if (!this.#take(organizationId))
			await new Promise<void>((admit, reject) => this.#wait(organizationId, admit, reject, patienceMs))
		try {
			return await work()
		} finally {
			this.leave(organizationId)
		}
	}

	/** Calls `admit` once there is room, which `leave` gives back, or `reject` when there is none for `patienceMs`. */
	enter(organizationId: string, admit: () => void, reject: (error: Error) => void = () => {}): void {
		if (this.#take(organizationId)) admit()
		else this.#wait(organizationId, admit, reject, this.#patienceMs)
	}

	#take(organizationId: string): boolean {
		if (this.#room.of(organizationId) === 0) return false
		this.#room.begin(organizationId)
		return true
	}

	#wait(organizationId: string, admit: () => void, reject: (error: Error) => void, patienceMs: number | undefined): void {
		const waiters = this.#waiting.get(organizationId) ?? []
		const waiter = {
			admit() {
				clearTimeout(timer)
				admit()
			},
		}
		const give = () => {
			waiters.splice(waiters.indexOf(waiter), 1)
			if (waiters.length === 0) this.#waiting.delete(organizationId)
			reject(new Error('timeout exceeded when waiting for a connection'))
		}
		const timer = patienceMs === undefined ? undefined : setTimeout(give, patienceMs)
		waiters.push(waiter)
		this.#waiting.set(organizationId, waiters)
	}

	leave(organizationId: string): void {
		this.#room.end(organizationId)
		this.#admit()
	}

	/**
	 * One that waits alone stays in its place. Of a map whose entries come and go, every outgrown table points to the next: once the
	 * first is in V8's old generation, all that follow reach it, too.
	 */
	#admit(): void {
		for (const [next, waiters] of this.#waiting) {
			do {
				if (this.#room.left <= 0) return
				if (!this.#take(next)) break
				const first = waiters.shift()
				if (waiters.length === 0) this.#waiting.delete(next)
				else if (this.#waiting.size > 1) {
					this.#waiting.delete(next)
					this.#waiting.set(next, waiters)
				}
				first?.admit()
			} while (waiters.length > 0 && this.#waiting.size === 1)
		}
	}
}
