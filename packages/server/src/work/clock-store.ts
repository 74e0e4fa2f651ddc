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
	const compare = async () => {
		const found = await measure(db)
		if (found === undefined || Math.abs(found - aheadMs) <= toleratedMs) return
		aheadMs = Math.abs(found) > toleratedMs ? found : 0
		if (aheadMs === 0) log.info('the clock of this machine is right again')
		else log.warn(`${difference(aheadMs)}, whose time is used: set it by a time server`)
	}
	await compare()
	return { now: () => Date.now() - aheadMs, loop: every(askMs, compare, log) }
}

/** How far the clock of this machine is ahead; undefined when the answer took too long to tell. */
async function measure(db: Database): Promise<number | undefined> {
	const [began, timer] = [Date.now(), performance.now()]
	const row = await db.get(ask, {})
	const tookMs = performance.now() - timer
	return row === undefined || tookMs > toleratedMs ? undefined : Math.round(began + tookMs / 2 - row.now)
}

const difference = (aheadMs: number) =>
	`the clock of this machine is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the one of the database`
