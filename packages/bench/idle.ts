// Section `idle` measures what a server costs with which nobody has anything to do: 10 organizations beside 100,000, each with
// an endpoint and with jobs that are due in years.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, query } from '../server/src/platform/db/database.ts'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { median } from './measure.ts'
import { startRemit } from './remit.ts'
import { check, print, table, title } from './report.ts'
import { newFolder } from './resources.ts'
import { isReachable, newDatabase, run as runSql } from './scratch.ts'
import { settings } from './webhooks/queue.ts'

/** What 100,000 organizations may cost more than 10, in ms of CPU a second: noise. */
const mostMoreMs = 5
/** The start does the housekeeping that each process does once. */
const settleMs = 5_000

export async function idle({ quick, rounds, server }: Run): Promise<void> {
	const counts = quick ? [10, 1_000] : [10, 100_000]
	const spanMs = quick ? 2_000 : 10_000
	const databases = ['SQLite', ...((await isReachable()) ? ['PostgreSQL'] : [])]
	title(`Idle server: CPU in ms a second, medians of ${rounds} spans of ${spanMs / 1_000} s`)
	const lines: string[][] = []
	for (const database of databases) {
		const costs: number[] = []
		for (const count of counts) {
			const where =
				database === 'SQLite' ? { DATA_DIR: newFolder(`idle-${count}`) } : { DATABASE_URL: await newDatabase(`idle_${count}`) }
			await withDatabase(where.DATABASE_URL === undefined ? { folder: where.DATA_DIR } : { url: where.DATABASE_URL }, (db) =>
				fill(db, count),
			)
			if (where.DATABASE_URL !== undefined) await runSql('vacuum analyze', where.DATABASE_URL)
			const remit = await startRemit(`idle-${database}-${count}`, server, { ...where, ...settings })
			await sleep(settleMs)
			const spans: number[] = []
			for (let round = 0; round < rounds; round++) {
				const [cpu, began] = [remit.cpuMicros(), performance.now()]
				await sleep(spanMs)
				spans.push((remit.cpuMicros() - cpu) / (performance.now() - began))
			}
			await remit.stop()
			costs.push(median(spans))
		}
		lines.push([database, ...costs.map((ms) => ms.toFixed(1))])
		const more = (costs[1] as number) - (costs[0] as number)
		const text = `idle, ${database}: ${counts[1]} organizations cost ${more.toFixed(1)} ms a second more than ${counts[0]}`
		print(`- ${text} (target: < ${mostMoreMs}) ${check(text, more < mostMoreMs)}`)
	}
	table(['', ...counts.map((count) => `${count} organizations`)], lines)
}

async function fill(db: Database, count: number): Promise<void> {
	const series =
		db.dialect === 'sqlite'
			? `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s) as s`
			: `(select n from generate_series(1, ${count}) as s(n)) as s`
	const insert = (name: string, row: Record<string, string>) =>
		query<object>((knex) => {
			const names = Object.keys(row).map((column) => `"${column}"`)
			return knex.raw(`insert into ${name} (${names}) select ${Object.values(row).join(', ')} from ${series}`)
		})
	const organizationId = `'org_' || n`
	const times = { createdAt: '1', updatedAt: '1' }
	const farOff = '4102444800000'
	const rows = [
		insert('organizations', {
			...{ organizationId, name: `'Organization'`, timeZone: `'UTC'`, locale: `'en-US'`, defaultCurrency: `'USD'` },
			...{ taxRounding: `'document'`, timeRounding: `'none'`, timeRoundingMinutes: '15', nextInvoiceNumber: '1', ...times },
		}),
		insert('webhook_endpoints', {
			...{ organizationId, id: `'whe_' || n`, url: `'https://receiver.example'`, host: `'receiver.example'`, version: '1' },
			...{ eventTypes: `'["*"]'`, status: `'active'`, secretHint: `''`, secret: `''`, ...times },
		}),
		insert('jobs', { organizationId, kind: `'overdue'`, resourceId: `''`, dueAt: farOff }),
		insert('jobs', { organizationId, kind: `'retention'`, resourceId: `''`, dueAt: farOff }),
		insert('jobs', { organizationId, kind: `'syncSchedule'`, resourceId: `'syn_' || n`, dueAt: farOff }),
	]
	await db.transaction(async (tx) => {
		for (const row of rows) await tx.run(row, {})
	})
}
