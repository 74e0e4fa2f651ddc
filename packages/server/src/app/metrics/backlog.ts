// Measures what waits, in the background: a scrape reads what the last walk found. A walk is a page of endpoints at a time, and rests
// as long as it works.
import type { Logger } from 'pino'
import type { Database } from '../../platform/db/database.ts'
import { every, type Loop, once } from '../../platform/work/loop.ts'
import { inParts } from '../../platform/work/parts.ts'
import { type EndpointBacklog, readEndpointBacklogs, readJobBacklog } from './backlog-store.ts'

interface Waiting {
	readonly count: number
	readonly dueSince: number | null
}

const nothing: Waiting = { count: 0, dueSince: null }
const pauseMs = 15_000

export class Backlog {
	deliveries = nothing
	jobs = nothing
	readonly #db: Database
	readonly #now: () => number
	readonly #loops: Loop[]
	#measuredAt = performance.now()

	constructor({ db, now, log }: { db: Database; now: () => number; log: Logger }) {
		this.#db = db
		this.#now = now
		this.#loops = [once((signal) => this.#measure(signal), log), every(pauseMs, (signal) => this.#measure(signal), log)]
	}

	/** For how long the oldest of them has been due, in seconds. */
	ageOf({ dueSince }: Waiting): number {
		return dueSince === null ? 0 : Math.max(0, this.#now() - dueSince) / 1000
	}

	/** How old what is known is, in seconds. */
	get age(): number {
		return (performance.now() - this.#measuredAt) / 1000
	}

	async close(): Promise<void> {
		await Promise.all(this.#loops.map((loop) => loop.stop()))
	}

	async #measure(signal: AbortSignal): Promise<void> {
		const now = this.#now()
		const job = await readJobBacklog(this.#db, now)
		this.jobs = { count: job?.due ?? 0, dueSince: job?.dueSince ?? null }
		let found = nothing
		let last: EndpointBacklog | undefined
		await inParts(async () => {
			const { rows, next } = await readEndpointBacklogs(this.#db, now, last)
			for (const { due, dueSince } of rows)
				found = {
					count: found.count + due,
					dueSince: dueSince === null ? found.dueSince : Math.min(dueSince, found.dueSince ?? dueSince),
				}
			last = next
			return next !== undefined
		}, signal)
		if (signal.aborted) return
		this.deliveries = found
		this.#measuredAt = performance.now()
	}
}
