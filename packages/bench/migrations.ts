// Section `migrations` runs migrations on a table of ten million rows, and measures how long clients wait meanwhile: each migration of
// this version that is fit to run beside servers, and samples of what the rules allow, beside one that they forbid.
import { buildIndex } from '../server/migrations/build-index.ts'
import { migrations as known } from '../server/migrations/index.ts'
import { migrate } from '../server/src/platform/db/drivers/migrate.ts'
import { connect, fillTables } from '../server/test/migration-waits.ts'
import type { Run } from './context.ts'
import { check, print, table, title } from './report.ts'
import { isReachable, newDatabase } from './scratch.ts'

type Migration = (typeof known)[number]

const mostMs = 1_000

const statement = (name: string, sql: string): Migration => ({ name, needs: 0, up: (knex) => knex.raw(sql) })

const allowed: readonly Migration[] = [
	statement('a column with a default', `alter table time_entries add column place text not null default 'office'`),
	{
		name: 'an index, built concurrently',
		needs: 0,
		inTransaction: false,
		up: (knex, online) =>
			buildIndex(knex, online, 'time_entries_by_note', 'on time_entries ("organizationId", "createdAt", description)'),
	},
	statement('a condition, not valid', `alter table time_entries add constraint sane check (version > 0) not valid`),
	statement('its check', `alter table time_entries validate constraint sane`),
]

const forbidden = statement('forbidden: another type', `alter table time_entries alter column version type bigint`)

export async function migrations({ quick }: Run): Promise<void> {
	if (!(await isReachable())) return print('Migrations: skipped, no PostgreSQL on this machine\n')
	const count = quick ? 100_000 : 10_000_000
	const url = await newDatabase('migrations')
	const since = known.slice(90)
	const before = known.slice(0, 90)
	await migrate({ postgresUrl: url }, 'upgrade', { known: before })
	const knex = connect(url)
	await fillTables(knex, count, 'time_entries')
	await knex.raw('vacuum analyze time_entries')
	const rows: string[][] = []
	const all = [...before]
	for (const migration of [...since, ...allowed, forbidden]) {
		all.push(migration)
		const began = performance.now()
		const worst = await longestWait(url, () => migrate({ postgresUrl: url, waitMs: 60_000 }, 'upgrade', { known: [...all] }))
		const took = performance.now() - began
		const met = migration === forbidden ? '' : check(`${migration.name}: clients wait ${worst.toFixed(0)} ms`, worst < mostMs)
		rows.push([migration.name, took.toFixed(0), `${worst.toFixed(0)} ${met}`])
	}
	await knex.destroy()
	title(`Migrations of ${count.toLocaleString('en')} time entries, beside clients that read and write them`)
	table(['', 'took ms', `longest wait of a client, ms (target: < ${mostMs})`], rows)
}

/** The longest that a client waited for a row that it reads or changes, while the work was done. */
async function longestWait(url: string, work: () => Promise<unknown>): Promise<number> {
	const clients = [connect(url), connect(url)] as const
	let isOver = false
	let worst = 0
	const client = async (knex: (typeof clients)[number], sql: string) => {
		while (!isOver) {
			const began = performance.now()
			await knex.raw(sql)
			worst = Math.max(worst, performance.now() - began)
		}
	}
	const both = [
		client(clients[0], `select * from time_entries where "organizationId" = '77' and id = '77'`),
		client(clients[1], `update time_entries set "updatedAt" = "updatedAt" + 1 where "organizationId" = '78' and id = '78'`),
	]
	await work().finally(() => {
		isOver = true
	})
	await Promise.all(both)
	for (const knex of clients) await knex.destroy()
	return worst
}
