// Reads on a standby. It is behind the primary by moments, and sometimes by minutes; a read sees all that was stored when it was asked for
// nevertheless: the primary says how far its log is, and the read waits until the standby has replayed so much of it. If that takes too long, or
// the standby cannot be reached, the primary reads.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Run } from './connections.ts'
import { hasTakenTooLong } from './errors.ts'
import { isSilent, silence, within } from './silence.ts'

/** How long a read waits for the standby. */
const patienceMs = 50
/** It is often behind for a moment under load: that is reported when it lasts. */
const reportMs = 5_000
/** The time between two looks at how far the standby is. */
const pauseMs = 2
/** How long the primary reads before the standby is tried again. */
const restMs = 1_000

/** Durable commits are on the disk when they are answered, and only what is there goes to a standby. */
const stored = `select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::int8 as position`
const replayed = `select pg_is_in_recovery() as standby, pg_wal_lsn_diff(coalesce(pg_last_wal_replay_lsn(), '0/0'), '0/0')::int8 as position`
/** The same on a standby and its primary, and on no other. */
const identity = 'select system_identifier::text as id from pg_control_system()'

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
	/** How far the standby is at least. */
	#position = 0
	/** Whether it is known to be a standby of this primary. */
	#isOurs = false
	#restsUntil = 0
	#behindSince: number | undefined
	#reason: string | undefined

	constructor(options: Options) {
		this.#options = options
		this.#stored = new Shared(async () => (await ask(options.primary, stored)).position)
		this.#replayed = new Shared(() => this.#lookAtStandby())
	}

	/** Runs a query that changes nothing. */
	readonly run: Run = async (query, organizationId) => {
		const { primary, standby } = this.#options
		if (!(await this.isReady())) return primary(query, organizationId)
		try {
			return await standby(query, organizationId)
		} catch (error) {
			if (hasTakenTooLong(error)) throw error
			this.#rest(String(error))
			return primary(query, organizationId)
		}
	}

	/** Whether the standby has all that is stored now, or will have within `forMs`. */
	async isReady(forMs = patienceMs): Promise<boolean> {
		const now = performance.now()
		if (now < this.#restsUntil) return false
		try {
			const position = await this.#stored.get()
			if (!this.#isOurs || this.#position < position) await within(forMs, this.#reach(position, forMs))
		} catch (error) {
			if (!isSilent(error)) return this.#rest(error instanceof Error ? error.message : String(error))
			this.#behindSince ??= now
			return this.#rest(now < this.#behindSince + reportMs ? this.#reason : 'it is behind, or does not answer')
		}
		this.#behindSince = undefined
		this.#note(undefined)
		return true
	}

	async #reach(position: number, forMs: number): Promise<void> {
		const deadline = performance.now() + forMs
		while (performance.now() < deadline) {
			this.#position = await this.#replayed.get()
			if (this.#position >= position) return
			await sleep(pauseMs)
		}
		throw new Error(silence)
	}

	async #lookAtStandby(): Promise<number> {
		const { primary, standby } = this.#options
		if (!this.#isOurs) {
			const [own, other] = await Promise.all([primary, standby].map((run) => ask(run, identity)))
			if (own?.id !== other?.id) throw new Error('it is a standby of another server')
			this.#isOurs = true
		}
		const { standby: isStandby, position } = await ask(standby, replayed)
		if (!isStandby) throw new Error('it is no standby')
		return position
	}

	#rest(reason: string | undefined): false {
		this.#restsUntil = performance.now() + restMs
		this.#isOurs = false
		this.#position = 0
		this.#note(reason)
		return false
	}

	#note(reason: string | undefined): void {
		if (reason !== this.#reason) this.#options.changed(reason)
		this.#reason = reason
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
