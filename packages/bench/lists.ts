// Section `lists` measures every filter, order and search of every list, with 10,000 records of each kind and with a million, on both
// databases: the CPU of a request alone, the first of its kind and then the median with its spread.
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKey } from '../server/src/accounts/api-keys/store.ts'
import { createOrganization } from '../server/src/introductions.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import { call, callJson } from './calls.ts'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { lists as all, type Facts, type List, queriesOf } from './lists/cases.ts'
import { grow, middle } from './lists/grow.ts'
import { openSql, type Where } from './lists/sql.ts'
import { median } from './measure.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { check, print, table, title } from './report.ts'
import { newFolder } from './resources.ts'
import { dropDatabase, isReachable, newDatabase } from './scratch.ts'
import { addEndpoints, settings } from './webhooks/queue.ts'

const mostMs = 5
const written = ['companies', 'contacts', 'deals', 'invoices', 'payments', 'time_entries'] as const
const scopes = ['read', 'admin', ...written.flatMap((kind) => [`${kind}:read`, `${kind}:write`] as const)] as const
const [passes, asksAPass] = [3, 3]
const pageSize = 50

/** CPU of a request in ms. */
interface Cost {
	readonly first: number
	readonly later: readonly number[]
	/** Of the database's own processes. */
	readonly ofDatabase: readonly number[]
	/** Of a deep offset: the longest that another request waited beside it, in ms. */
	readonly waits: readonly number[]
}

interface Setting {
	readonly database: 'SQLite' | 'PostgreSQL'
	readonly count: number
}

type Costs = ReadonlyMap<string, Cost>

export async function lists(run: Run): Promise<void> {
	const counts = run.quick ? [1_000, 10_000] : [10_000, 1_000_000]
	const databases = ['SQLite', ...((await isReachable()) ? ['PostgreSQL'] : [])] as Setting['database'][]
	const measured: [Setting, Costs][] = []
	for (const database of databases)
		for (const count of counts) measured.push([{ database, count }, await measureOn(run, { database, count })])
	report(measured)
}

async function measureOn(run: Run, { database, count }: Setting): Promise<Costs> {
	const name = `lists_${count}`
	const where: Where = database === 'SQLite' ? { DATA_DIR: newFolder(name) } : { DATABASE_URL: await newDatabase(name) }
	const now = Date.now()
	const began = performance.now()
	const { key, organizationId } = await fill(run, where)
	await grow(where, organizationId, count, now)
	console.error(`${database}: ${count} records of each kind in ${((performance.now() - began) / 1000).toFixed(0)} s`)
	const server = await startRemit(name, run.server, { ...where, ...settings })
	const costs = await measureAll(server, key, { middle: middle(now), count }, await pidsOf(where))
	await server.stop()
	if (database === 'PostgreSQL') await dropDatabase(name)
	return costs
}

/** An organization with endpoints and one record of each kind, made by the server. */
async function fill(run: Run, where: Where): Promise<{ organizationId: string; key: string }> {
	const made = await withDatabase('DATA_DIR' in where ? { folder: where.DATA_DIR } : { url: where.DATABASE_URL }, async (db) => {
		const origin = bySystem(Date.now())
		const organization = await db.transaction((tx) => createOrganization(tx, origin, { name: 'Lists' }))
		const organizationId = organization.id
		const { key } = await db.transaction((tx) => createKey({ db: tx, origin }, organizationId, { name: 'bench', scopes }))
		await addEndpoints(db, organizationId, Array<string>(4).fill('http://127.0.0.1:9/hook'))
		return { organizationId, key }
	})
	const server = await startRemit('fill', run.server, { ...where, ...settings })
	const create = async (path: string, body: object) =>
		(await callJson(server, made.key, { method: 'POST', path, body })) as { id: string }
	const { id: companyId } = await create('/api/companies', { name: 'Grown' })
	const { id: contactId } = await create('/api/contacts', { name: 'Grown', companyId })
	const { id: dealId } = await create('/api/deals', { name: 'Grown', companyId, contactId, currency: 'EUR' })
	const { id: invoiceId } = await create('/api/invoices', { totalCents: 100, currency: 'EUR', companyId, dealId })
	await create('/api/payments', { amountCents: 1, currency: 'EUR', invoiceId })
	await create('/api/time-entries', { dealId, durationSeconds: 3_600, startedAt: Date.now() - 7_200_000 })
	await server.stop()
	return made
}

/** Lists are measured in turns, so that other work on the machine slows all of them alike. */
async function measureAll(
	server: Server,
	key: string,
	known: Omit<Facts, 'records'>,
	databasePids: () => Promise<readonly string[]>,
): Promise<Costs> {
	const costs = new Map<string, { first: number; later: number[]; ofDatabase: number[]; waits: number[] }>()
	const paths: string[] = []
	for (const list of all) {
		const { data: records } = await callJson(server, key, { method: 'GET', path: pathOf(list, 'q=grown') })
		paths.push(...queriesOf(list, { ...known, records }).map((query) => pathOf(list, query)))
	}
	for (let pass = 0; pass <= passes; pass++) {
		const pids = await databasePids()
		for (const path of paths) {
			for (let asked = 0; asked < (pass === 0 ? 1 : asksAPass); asked++) {
				const [before, ofDatabase] = [server.cpuMs(), cpuMsOf(pids)]
				await callJson(server, key, { method: 'GET', path })
				// The log line, and what the database does after its answer.
				await sleep(2)
				const cost = server.cpuMs() - before
				const own = cpuMsOf(pids) - ofDatabase
				const known = costs.get(path)
				if (!known) costs.set(path, { first: cost, later: [], ofDatabase: [], waits: [] })
				else {
					known.later.push(cost)
					known.ofDatabase.push(own)
				}
			}
			if (isDeep(path)) costs.get(path)?.waits.push(await longestWait(server, key, path))
		}
	}
	return costs
}

/** An offset is skipped in parts: it may cost what it does, and is to hold nobody up. */
const isDeep = (path: string) => path.includes('offset=')

/** The longest that a request that costs nothing waits for its answer while another is under way. */
async function longestWait(server: Server, key: string, path: string): Promise<number> {
	let isUnderWay = true
	const deep = callJson(server, key, { method: 'GET', path }).finally(() => {
		isUnderWay = false
	})
	let longest = 0
	while (isUnderWay) {
		const sent = performance.now()
		await call(server, key, { method: 'GET', path: '/health' })
		longest = Math.max(longest, performance.now() - sent)
	}
	await deep
	return longest
}

const pathOf = ({ path, parameters }: List, query: string) =>
	parameters.some(({ name }) => name === 'limit')
		? `${path}?limit=${pageSize}${query && `&${query}`}`.replace('&q=grown', '')
		: `${path}?${query}`

/** Finds the processes of PostgreSQL that work for a database. */
async function pidsOf(where: Where): Promise<() => Promise<readonly string[]>> {
	if ('DATA_DIR' in where) return async () => []
	return async () => {
		const sql = await openSql(where)
		const rows = await sql.rows(
			`select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
		)
		await sql.close()
		return rows.map(({ pid }) => String(pid))
	}
}

function cpuMsOf(pids: readonly string[]): number {
	return pids.reduce((sum, pid) => {
		const file = `/proc/${pid}/schedstat`
		// The pool may have closed its connection.
		return existsSync(file) ? sum + Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6 : sum
	}, 0)
}

const headingOf = ({ database, count }: Setting) => `${database}, ${count.toLocaleString('en')}`

function report(measured: readonly [Setting, Costs][]): void {
	title(`Lists: CPU of the server process in ms for a page of ${pageSize}, by the number of records of each kind`)
	print(
		`\nThe first request of its kind · the median of the next ${passes * asksAPass} (lowest–highest). The last column is what PostgreSQL itself spends on the larger number.\nA deep offset is skipped in parts: “holds” is the longest that another request waits beside it, by the clock. More than ${mostMs} ms is bold.`,
	)
	const last = measured.findLast(([{ database }]) => database === 'PostgreSQL')
	const over: string[] = []
	const [[, some] = [undefined, new Map() as Costs]] = measured
	const ofList = (path: string) => path.split('?')[0] as string
	for (const path of new Set([...some.keys()].map(ofList))) {
		const index = [...some.keys()].flatMap((one, at) => (ofList(one) === path ? [at] : []))
		const lines = index.map((at) => {
			const name = shown([...some.keys()][at] as string)
			const cells = measured.map(([setting, costs]) => {
				const cost = [...costs.values()][at] as Cost
				const [what, ms] = cost.waits.length > 0 ? ['holds others up', median(cost.waits)] : ['takes', median(cost.later)]
				if (ms > mostMs) over.push(`${path} ${name} ${what} ${ms.toFixed(1)} ms (${headingOf(setting)})`)
				return cellOf(cost)
			})
			const own = last && ([...last[1].values()][at] as Cost).ofDatabase
			return [name, ...cells, ...(own ? [marked(median(own))] : [])]
		})
		print(`\n#### GET ${path}`)
		table(['', ...measured.map(([setting]) => headingOf(setting)), ...(last ? ['PostgreSQL itself'] : [])], lines)
	}
	const text = `lists: ${over.length} of ${some.size * measured.length} above ${mostMs} ms`
	print(`- ${text} ${check(text, over.length === 0)}`)
	for (const line of over) print(`  - ${line}`)
	print()
}

const shown = (path: string) => {
	const query = decodeURIComponent(path.split('?')[1] ?? '').replace(/^limit=\d+&?/, '')
	// Ids, times and offsets differ with the number of records.
	return query === ''
		? 'plain'
		: `\`${query
				.replace(/\b(?:[a-z]+_)\w{12,}/, '…')
				.replace(/=\d{13}/, '=…')
				.replace(/offset=\d+/, 'offset 90 %')}\``
}

const marked = (ms: number) => (ms > mostMs ? `**${ms.toFixed(1)}**` : ms.toFixed(1))

const cellOf = ({ first, later, waits }: Cost) => {
	const spread = `(${Math.min(...later).toFixed(1)}–${Math.max(...later).toFixed(1)})`
	if (waits.length > 0) return `${first.toFixed(1)} · ${median(later).toFixed(1)} ${spread}, holds ${marked(median(waits))}`
	return `${first.toFixed(1)} · ${marked(median(later))} ${spread}`
}
