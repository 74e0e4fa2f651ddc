// Shares the event loop between owners (an organization, or a visitor's network). While a turn of the loop is not used up, work goes
// on at once; after that it waits, and is let in owner by owner, so that one who asks for much delays another by about one
// request of each owner.

/** How long the work of a turn of the loop may take before other work waits. A single request may take longer. */
const turnMs = 20

/** How long new connections may hold up the work that waits, in each turn: time for hundreds of them. */
const connectingMs = 20

/** More are not let in within a turn: 20 ms are enough for some 500 of the cheapest requests. */
const mostInTurn = 500

class LoopTurns {
	/** When the turn began, by `performance.now()`; 0 before its first work. */
	#began = 0
	#size = 0
	#hasConnected = false
	#connectUntil = 0
	/** The owners that wait, the one that is next first. */
	readonly #waiting = new Map<string, (() => void)[]>()

	/** Whether work may go on at once. Most can: this costs a look at the clock. */
	hasRoom(): boolean {
		const now = performance.now()
		if (this.#began > 0) return this.#size === 0 && now - this.#began < turnMs
		this.#began = now
		setImmediate(this.#end)
		return true
	}

	/** Calls `go` when it is the owner's turn; only after `hasRoom`, which sees to it that there is one. */
	wait(owner: string, go: () => void): void {
		const others = this.#waiting.get(owner)
		if (others) others.push(go)
		else this.#waiting.set(owner, [go])
		this.#size++
	}

	/** Resolves when it is the owner's turn; undefined when that is now. */
	take(owner: string): Promise<void> | undefined {
		return this.hasRoom() ? undefined : new Promise((resolve) => this.wait(owner, resolve))
	}

	/** Resolves in the owner's next turn, not in this one: for what many have come to at once, and so each found room for. */
	next(owner: string): Promise<void> {
		this.hasRoom()
		return new Promise((resolve) => this.wait(owner, resolve))
	}

	/** To be called for each new connection. */
	connected(): void {
		this.#hasConnected = true
	}

	readonly #end = (): void => {
		if (this.#size === 0) {
			this.#began = 0
			return
		}
		this.#connectUntil = performance.now() + connectingMs
		setImmediate(this.#goOnConnecting)
	}

	/** libuv accepts one connection in a round of the loop: as long as there are more, rounds without work accept them. */
	readonly #goOnConnecting = (): void => {
		if (this.#hasConnected && performance.now() < this.#connectUntil) {
			this.#hasConnected = false
			setImmediate(this.#goOnConnecting)
		} else this.#schedule()
	}

	/** Node runs the microtasks of each callback before the next, so that each sees what those before it have used. */
	#schedule(): void {
		setImmediate(this.#begin)
		for (let count = Math.min(this.#size, mostInTurn); count > 1; count--) setImmediate(this.#goOn)
		setImmediate(this.#end)
	}

	readonly #begin = (): void => {
		this.#began = performance.now()
		this.#letIn()
	}

	readonly #goOn = (): void => {
		if (performance.now() - this.#began < turnMs) this.#letIn()
	}

	#letIn(): void {
		for (const [owner, works] of this.#waiting) {
			this.#waiting.delete(owner)
			const go = works.shift()
			if (works.length > 0) this.#waiting.set(owner, works)
			this.#size--
			go?.()
			return
		}
	}
}

/** One for the process, as its event loop is. */
export const loopTurns = new LoopTurns()
