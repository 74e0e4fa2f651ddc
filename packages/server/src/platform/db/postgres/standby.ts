// Reads on a standby. It is behind the primary by moments, and sometimes by minutes; a read sees all that was stored when it was asked for
// nevertheless: the primary says how far its log is, and the read waits until the standby has replayed so much of it. If that takes too long, or
// the standby cannot be reached, the primary reads.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Run } from './connections.ts'
import { hasTakenTooLong } from './errors.ts'
import { isSilent, silence, within } from './silence.ts'

/** How long a read waits for the standby. */
const patienceMs = 50
/** The time between two looks at how far the standby is. */
const pauseMs = 2
/** How long the primary reads before the standby is tried again. */
const restMs = 1_000
/** It is often behind for a moment under load: that is reported when it lasts. */
const reportMs = 5_000
/** How long a standby may take to show what was written to the primary, when it is found out whether it follows it. */
const followMs = 5_000
/** The address may lead to another server meanwhile, which a pooler would hide. */
const provenForMs = 60_000

/** Durable commits are on the disk when they are answered, and only what is there goes to a standby. */
const stored = `select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::int8 as position`
const replayed = `select pg_is_in_recovery() as standby, pg_wal_lsn_diff(coalesce(pg_last_wal_replay_lsn(), '0/0'), '0/0')::int8 as position`

interface Options {
	readonly primary: Run
	readonly standby: Run
	/** Called when the primary begins to read in place of the standby, with the reason, and with none when the standby reads again. */
	readonly changed: (reason: string | undefined) => void
}

export class Standby {
	readonly #options: Options
	readonly #stored: Shared<number>
	readonly #replayed: Shared<number>
	/** Until when it counts as a standby of this primary. */
	#provenUntil = 0
	#proof: Promise<void> | undefined
	#restsUntil = 0
	#behindSince: number | undefined
	#isReported = false
	#hasEnded = false

	constructor(options: Options) {
		this.#options = options
		this.#stored = new Shared(async () => (await ask(options.primary, stored)).position)
		this.#replayed = new Shared(() => this.#lookAtStandby())
	}

	/** Runs a query that changes nothing. */
	readonly run: Run = async (query, organizationId) => {
		const { primary, standby } = this.#options
		if (!(await this.#isReady())) return primary(query, organizationId)
		try {
			return await standby(query, organizationId)
		} catch (error) {
			if (hasTakenTooLong(error)) throw error
			this.#fail(error)
			return primary(query, organizationId)
		}
	}

	/** Finds out whether it is a standby of this primary; until then the primary reads. */
	prove(): Promise<void> {
		this.#proof ??= this.#follow()
			.then(
				() => {
					this.#provenUntil = performance.now() + provenForMs
				},
				(error) => this.#fail(error),
			)
			.finally(() => {
				this.#proof = undefined
			})
		return this.#proof
	}

	/** Its connections are about to close. */
	end(): void {
		this.#hasEnded = true
	}

	/** Whether the standby has all that is stored now. Asked for each read: it may be another one than before, or frozen. */
	async #isReady(): Promise<boolean> {
		const now = performance.now()
		if (this.#hasEnded || now < this.#restsUntil) return false
		if (now > this.#provenUntil) {
			this.prove()
			return false
		}
		try {
			const position = await this.#stored.get()
			await within(patienceMs, this.#reach(position))
		} catch (error) {
			this.#fail(error)
			return false
		}
		this.#behindSince = undefined
		if (this.#isReported) this.#options.changed(undefined)
		this.#isReported = false
		return true
	}

	async #reach(position: number): Promise<void> {
		const deadline = performance.now() + patienceMs
		while (performance.now() < deadline) {
			if ((await this.#replayed.get()) >= position) return
			await sleep(pauseMs)
		}
		throw new Error(silence)
	}

	async #lookAtStandby(): Promise<number> {
		const { standby: isStandby, position } = await ask(this.#options.standby, replayed)
		if (!isStandby) throw new Error('it is no standby')
		return position
	}

	/**
	 * Writes to the primary, and waits until the standby shows it: a copy of the primary, an older one, or another database of the same server would
	 * pass for it in all that one can ask of both. An empty large object is a mark that needs no table.
	 */
	async #follow(): Promise<void> {
		const { primary, standby } = this.#options
		await this.#lookAtStandby()
		const mark = randomInt(2 ** 30, 2 ** 32)
		await primary(`select lo_create(${mark})`)
		try {
			const deadline = performance.now() + followMs
			while (performance.now() < deadline) {
				const { rows } = await standby(`select from pg_largeobject_metadata where oid = ${mark}`)
				if (rows.length > 0) return
				await sleep(pauseMs * 10)
			}
		} finally {
			await primary(`select lo_unlink(${mark})`)
		}
		throw new Error('it does not follow DATABASE_URL, or is behind')
	}

	#fail(error: unknown): void {
		const now = performance.now()
		this.#restsUntil = Math.max(this.#restsUntil, now + restMs)
		if (isSilent(error)) {
			this.#behindSince ??= now
			if (now < this.#behindSince + reportMs) return
		} else this.#provenUntil = 0
		if (this.#isReported || this.#hasEnded) return
		this.#isReported = true
		this.#options.changed(
			isSilent(error) ? 'it is behind, or does not answer' : error instanceof Error ? error.message : String(error),
		)
	}
}

const ask = async (run: Run, text: string): Promise<pg.QueryResultRow> => (await run(text)).rows[0]

/** What is asked for all that want to know at about the same time. Nobody gets an answer to a question that was asked before theirs. */
class Shared<T> {
	readonly #ask: () => Promise<T>
	#asking: Promise<T> | undefined
	#next: Promise<T> | undefined

	constructor(ask: () => Promise<T>) {
		this.#ask = ask
	}

	get(): Promise<T> {
		if (!this.#asking) return this.#begin()
		this.#next ??= this.#asking.then(
			() => this.#begin(),
			() => this.#begin(),
		)
		return this.#next
	}

	#begin(): Promise<T> {
		this.#next = undefined
		const asking = this.#ask().finally(() => {
			this.#asking = undefined
		})
		this.#asking = asking
		return asking
	}
}
