// The clock of all processes on a database: leases, times that something is due and the times of records are compared between them, so
// a machine whose clock is wrong would take what another has, or leave what is due.
import type { Logger } from 'pino'
import { type Database, query } from '../db/database.ts'
import { every, type Loop } from './loop.ts'

/** Differences up to this are left: they are as long as what asking the database takes on a busy machine. */
const toleratedMs = 1_000
const askMs = 10_000

export interface SharedClock {
	readonly now: () => number
	/** Set while the database is asked about a clock that has jumped. */
	readonly asking?: () => Promise<void> | undefined
	/** Asks the database for its time, now and then. */
	readonly loop?: Loop
}

const ask = query<object, { now: number }>((knex) =>
	knex.raw('select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now'),
)

/** The time of day of PostgreSQL; on SQLite, whose file belongs to this machine, that of the machine. */
export async function openClock(db: Database, log: Logger): Promise<SharedClock> {
	if (db.dialect === 'sqlite') return { now: Date.now }
	let aheadMs = 0
	/** The time of the database when it was last asked, less that of the monotonic clock. */
	let beganAt = Date.now() - performance.now()
	const compare = async () => {
		const found = await measure(db)
		// What took long tells only of a clock that is further away than that.
		if (Math.abs(found.aheadMs) <= found.tookMs && found.tookMs > toleratedMs) return
		beganAt = found.now - performance.now()
		if (Math.abs(found.aheadMs - aheadMs) <= toleratedMs) return
		aheadMs = Math.abs(found.aheadMs) > toleratedMs ? found.aheadMs : 0
		if (aheadMs === 0) log.info('the clock of this machine is right again')
		else log.warn(`${difference(aheadMs)}, whose time is used: set it by a time server`)
	}
	await compare()
	let asking: Promise<void> | undefined
	let askedAt = Number.NEGATIVE_INFINITY
	const askSoon = () => {
		if (asking || performance.now() - askedAt < toleratedMs) return
		askedAt = performance.now()
		asking = compare()
			.catch((err) => log.warn({ err }, 'the clock of the database is not known'))
			.finally(() => {
				asking = undefined
			})
	}
	const now = () => {
		const [here, there] = [Date.now() - aheadMs, beganAt + performance.now()]
		if (Math.abs(here - there) <= toleratedMs) return here
		// The clock of this machine has jumped since, or the machine was suspended, during which the other one stands still.
		askSoon()
		return Math.round(there)
	}
	return { now, asking: () => asking, loop: every(askMs, compare, log) }
}

interface Measured {
	/** The time of the database. */
	readonly now: number
	/** How far the clock of this machine is ahead, give or take half of `tookMs`. */
	readonly aheadMs: number
	readonly tookMs: number
}

async function measure(db: Database): Promise<Measured> {
	const [began, timer] = [Date.now(), performance.now()]
	const row = (await db.get(ask, {})) as { now: number }
	const tookMs = performance.now() - timer
	return { now: row.now + tookMs / 2, aheadMs: Math.round(began + tookMs / 2 - row.now), tookMs }
}

const difference = (aheadMs: number) =>
	`the clock of this machine is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the one of the database`
