// Section `rows` checks that reads cost the same with a million invoices as with 10,000.
import type { Run } from './context.ts'
import { copyDatabase, fileIn } from './databases.ts'
import { filteredLists, getLoad } from './loads.ts'
import { measure, ratio, type Samples } from './measure.ts'
import { percent } from './operations.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { check, figureHeadings, figures, print, table, title } from './report.ts'
import { invoiceCount } from './seed.ts'
import { loadSqlite, type Sqlite } from './server-modules.ts'

const Database = loadSqlite()

const [allowed, quickCount, fullCount] = [0.15, 50_000, 1_000_000]

export async function rows(run: Run): Promise<void> {
	const count = run.quick ? quickCount : fullCount
	const [small, large] = [named(invoiceCount), named(count)]
	const folder = copyDatabase('grown', run.database)
	const grownIds = grow(fileIn(folder), run.seed.organizationId, count)
	const servers = [
		await startRemit(small, run.server, { DATA_DIR: copyDatabase('small', run.database) }),
		await startRemit(large, run.server, { DATA_DIR: folder }),
	] as const
	const loads = new Map([
		[small, getLoad(run.seed)],
		[large, getLoad({ invoiceIds: grownIds })],
	])
	const got = await measure(servers, ({ name }) => loads.get(name) ?? getLoad(run.seed), run)
	const text = `${report('GET one invoice', got, small, large)} (target: within 15 %)`
	print(`- ${text} ${check(text, ratio(got, small, large) - 1 <= allowed)}\n`)
	if (!run.quick) await listsToo(servers, run, small, large)
	for (const server of servers) await server.stop()
}

async function listsToo(servers: readonly Server[], run: Run, small: string, large: string): Promise<void> {
	const listed = await measure(servers, { method: 'GET', paths: filteredLists }, { ...run, rounds: Math.min(run.rounds, 3) })
	print(`- ${report('list of 50, filtered by status', listed, small, large)}\n`)
}

const named = (count: number) => `${count.toLocaleString('en')} rows`

function report(what: string, samples: Samples, small: string, large: string): string {
	title(`${what}, by the number of rows`)
	table(
		['', ...figureHeadings],
		[...samples.keys()].map((name) => [name, ...figures(samples, name)]),
	)
	return `CPU of ${what} with ${large} is ${percent(ratio(samples, small, large) - 1)} than with ${small}`
}

/** Fills an organization up to `count` invoices with copies of its invoices, and returns ids from all over the table. */
function grow(database: string, organizationId: string, count: number): string[] {
	const db = new Database(database)
	db.pragma('journal_mode = OFF')
	db.pragma('synchronous = OFF')
	db.pragma('cache_size = -500000')
	const indexes = db
		.prepare<{ name: string; sql: string }>(
			`select name, sql from sqlite_master where type = 'index' and tbl_name = 'invoices' and sql is not null`,
		)
		.all()
	for (const { name } of indexes) db.exec(`drop index "${name}"`)
	db.prepare('create temp table base as select * from invoices where "organizationId" = ?').run(organizationId)
	insertCopies(db, count)
	for (const { sql } of indexes) db.exec(sql)
	const ids = db.prepare('select "id" from invoices where "organizationId" = ? and rowid % 97 = 0').pluck()
	const found = ids.all(organizationId) as string[]
	db.pragma('journal_mode = WAL')
	db.close()
	return found
}

function insertCopies(db: Sqlite, count: number): void {
	const own: Record<string, string> = {
		id: `'inv_' || printf('%020d', n)`,
		invoiceNumber: `'INV-' || (n + 1)`,
		createdAt: `"createdAt" - (n / ${invoiceCount}) * 1000`,
	}
	const names = db.pragma('table_info(invoices)') as { name: string }[]
	const [into, from] = [names.map(({ name }) => `"${name}"`), names.map(({ name }) => own[name] ?? `"${name}"`)]
	db.exec(`with recursive numbers(n) as (select ${invoiceCount} union all select n + 1 from numbers where n + 1 < ${count})
		insert into invoices (${into}) select ${from} from numbers join base on base.rowid = 1 + n % ${invoiceCount}`)
}
