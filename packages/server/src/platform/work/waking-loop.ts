// The loop of what works off a queue: any number of calls that wake it lead to one turn, and to one more after a turn under way.

interface LoopOptions {
	/** Besides, the loop is woken this often, for what became due or was written by other processes. */
	readonly pollMs: number
	/** A turn failed; the next one comes when the loop is woken. */
	readonly failed: (error: unknown) => void
}

/** The longest rest between two look-ups: one look-up in a stalled database must not stop the work for so many times as long. */
const longestRestMs = 1_000

export class WakingLoop {
	readonly #options: LoopOptions
	readonly #turn: () => Promise<void>
	#running: Promise<void> | undefined
	/** The loop was woken during a turn: it takes another. */
	#again = false
	/** The next look-up is no earlier, by the monotonic clock. */
	#restUntil = 0
	#restTimer: NodeJS.Timeout | undefined
	#poll: NodeJS.Timeout | undefined

	constructor(turn: () => Promise<void>, options: LoopOptions) {
		this.#turn = turn
		this.#options = options
	}

	start(): void {
		this.#poll = setInterval(() => this.wake(), this.#options.pollMs).unref()
		this.wake()
	}

	/** From now on turns come only when the owner wakes the loop. */
	stop(): void {
		clearInterval(this.#poll)
		clearTimeout(this.#restTimer)
	}

	/** Resolves when no turn is under way. */
	async idle(): Promise<void> {
		await this.#running
	}

	wake(): void {
		this.#again = true
		this.#running ??= this.#run()
	}

	/**
	 * Looks whether something is due: false while the loop rests from the look-up before, `restFactor` times as long as it took. On
	 * SQLite a look-up holds the process's only thread, and it may cost more the more there is that waits.
	 */
	async look(isDue: () => Promise<boolean>, restFactor: number): Promise<boolean> {
		const began = performance.now()
		if (began < this.#restUntil) {
			// The poll would be too late: whoever woke the loop has written something that is due now.
			this.#restTimer ??= setTimeout(() => {
				this.#restTimer = undefined
				this.wake()
			}, this.#restUntil - began).unref()
			return false
		}
		const found = await isDue()
		const end = performance.now()
		this.#restUntil = end + Math.min(restFactor * (end - began), longestRestMs)
		return found
	}

	async #run(): Promise<void> {
		while (this.#again) {
			this.#again = false
			await this.#turn().catch(this.#options.failed)
		}
		this.#running = undefined
	}
}
