// Limits the bytes that the requests of an organization store in a day of UTC. A request adds to a count in memory, which the
// database gets every ten seconds: then each process knows what all have counted. So a limit may be passed by what is stored in
// ten seconds, and a request pays no statement for it.

import type { OrganizationUsage } from '../../generated/contract.ts'
import { dayMs } from '../base/dates.ts'
import { ApiError } from '../base/errors.ts'
import type { Database, Db } from '../db/database.ts'
import { addStoredBytes, findStoredBytes } from './stored-bytes-store.ts'

interface Count {
	readonly day: number
	/** As the database had it at the last flush. */
	stored: number
	/** Since then. */
	added: number
}

const dayOf = (now: number) => Math.floor(now / dayMs)

export class StoredBytes {
	/** Bytes a day and organization; 0 means no limit. */
	readonly #limit: number
	readonly #db: Database
	readonly #counts = new Map<string, Count>()

	constructor(db: Database, megabytes: number) {
		this.#db = db
		this.#limit = megabytes * 1_000_000
	}

	/** Throws 429 `storage_limit_reached` when the organization has stored what it may store today. */
	require(organizationId: string, now: number): void {
		const count = this.#counts.get(organizationId)
		if (this.#limit === 0 || count?.day !== dayOf(now) || count.stored + count.added < this.#limit) return
		const seconds = Math.ceil(((count.day + 1) * dayMs - now) / 1000)
		const detail = `The organization has stored the ${this.#limit / 1e6} MB that it may store in a day; try again in ${seconds} s.`
		throw new ApiError('storage_limit_reached', detail, { headers: { 'Retry-After': String(seconds) } })
	}

	add(organizationId: string, bytes: number, now: number): void {
		if (bytes === 0) return
		const count = this.#counts.get(organizationId)
		if (count?.day === dayOf(now)) count.added += bytes
		else this.#counts.set(organizationId, { day: dayOf(now), stored: 0, added: bytes })
	}

	/** What the organization has stored today, with what this process has not flushed yet. */
	async usage(db: Db, organizationId: string, now: number): Promise<OrganizationUsage> {
		const day = dayOf(now)
		const count = this.#counts.get(organizationId)
		const stored = await findStoredBytes(db, organizationId, day)
		return {
			storedBytes: stored + (count?.day === day ? count.added : 0),
			storedBytesLimit: this.#limit === 0 ? null : this.#limit,
			resetsAt: (day + 1) * dayMs,
		}
	}

	async flush(now: number): Promise<void> {
		for (const [organizationId, count] of this.#counts) {
			if (count.added > 0) await this.#store(organizationId, count)
			else if (count.day !== dayOf(now)) this.#counts.delete(organizationId)
		}
	}

	async #store(organizationId: string, count: Count): Promise<void> {
		const { day, added } = count
		const store = (tx: Db) => addStoredBytes(tx, organizationId, day, added)
		count.stored = await this.#db.transaction(store, { durable: false, organizationId })
		count.added -= added
	}
}
