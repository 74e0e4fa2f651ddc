// Gaps of long series: found step by step, page by page, without reading a series as a whole.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { connect, plansBy, record } from '../../../../test/plans.ts'
import { type Ask, readTables } from '../../../../test/tables.ts'
import type { NumberGap } from '../../../generated/contract.ts'
import { findNumber, largestUsed, readKnown, readMissing } from './gaps-store.ts'

let server: TestServer
let tenant: Tenant
let ask: Ask
let end: () => unknown
const deleted = new Set<number>()
const used = new Set<number>()
const next = 12_000

beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
	;({ ask, end } = await connect(server.settings))
	await tenant.ask('POST', '/api/invoices', { body: { invoiceNumber: 'INV-0001' } })
	const { id } = (await tenant.ask('POST', '/api/invoices', { body: { invoiceNumber: 'INV-0002' } })).body
	await tenant.ask('DELETE', `/api/invoices/${id}`)
	used.add(1)
	deleted.add(2)
	// 3 to 5,000 are there but for every 50th; of 5,001 to 8,000 every second was deleted; from 9,000 on all are there, with more digits.
	const isUsed = '(n between 3 and 5000 and n % 50 <> 0) or n between 9000 and 11000'
	for (let n = 3; n <= 11_000; n++) {
		if ((n <= 5_000 && n % 50 !== 0) || n >= 9_000) used.add(n)
		if (n > 5_000 && n <= 8_000 && n % 2 === 0) deleted.add(n)
	}
	await copy('invoices', 'id', 'inv', isUsed)
	await copy('invoice_tombstones', 'invoiceId', 'gone', 'n between 5001 and 8000 and n % 2 = 0')
	await ask(`update organizations set "nextInvoiceNumber" = ${next} where "organizationId" = '${tenant.organizationId}'`)
	if (server.db.dialect === 'postgres') await ask('vacuum analyze')
})
afterAll(async () => {
	await end()
	await server.close()
})

/** Copies a row for each of these numbers; those from 9,000 on are written with seven digits. */
async function copy(table: string, id: string, prefix: string, where: string): Promise<void> {
	const padded = (digits: number) =>
		server.db.dialect === 'sqlite' ? `printf('%0${digits}d', n)` : `lpad(n::text, ${digits}, '0')`
	const values: Record<string, string> = {
		[id]: `'${prefix}_' || n`,
		invoiceNumber: `'INV-' || case when n < 9000 then ${padded(4)} else ${padded(7)} end`,
	}
	const { columns = [] } = (await readTables(server.db.dialect, ask)).find(({ name }) => name === table) ?? {}
	const names = columns.map((name) => `"${name}"`).join(', ')
	const selected = columns.map((name) => values[name] ?? `"${name}"`).join(', ')
	await ask(`with recursive numbers(n) as (select 3 union all select n + 1 from numbers where n < 11000)
		insert into ${table} (${names}) select ${selected}
		from (select * from ${table} where "organizationId" = '${tenant.organizationId}' limit 1) as source, numbers where ${where}`)
}

/** Number by number: a deletion is a gap of its own, and so is what lies between. */
function expected(): [first: number, last: number, reason: string][] {
	const gaps: [number, number, string][] = []
	for (let n = 1; n < next; n++) {
		if (used.has(n)) continue
		const last = gaps.at(-1)
		if (!deleted.has(n) && last?.[1] === n - 1 && last[2] === 'unknown') last[1] = n
		else gaps.push([n, n, deleted.has(n) ? 'deleted' : 'unknown'])
	}
	return gaps
}

it('finds every gap once by cursor, and the same by offset', async () => {
	const all = expected()
	expect(all.length).toBeGreaterThan(3_000)
	const found: [number, number, string][] = []
	for (let query = 'limit=100'; query; ) {
		const { data, meta } = (await tenant.ask('GET', `/api/number-gaps?${query}`)).body
		found.push(...data.map(({ firstNumber, lastNumber, reason }: NumberGap) => [firstNumber, lastNumber, reason]))
		expect(meta).toMatchObject({ hasMore: found.length < all.length, total: found.length > 100 ? null : all.length })
		query = meta.nextCursor && `limit=100&cursor=${meta.nextCursor}`
	}
	expect(found).toEqual(all)
	for (const offset of [0, 99, 1_700, all.length - 1, all.length, 999_999_999]) {
		const { data } = (await tenant.ask('GET', `/api/number-gaps?limit=2&offset=${offset}`)).body
		expect(data.map(({ firstNumber }: NumberGap) => firstNumber)).toEqual(all.slice(offset, offset + 2).map(([first]) => first))
	}
})

it('asks an index in the order of the numbers', async () => {
	const key = { organizationId: tenant.organizationId, series: 'INV-' }
	const recorded = await record(server.db.dialect, async (db) => {
		await findNumber(db, key, 7)
		await readMissing(db, key, 7, 2_006)
		await readKnown(db, key, 7, 2_006, 1_000)
		await largestUsed(db, key.organizationId, key.series)
	})
	expect(recorded).toHaveLength(7)
	if (server.db.dialect === 'postgres') await ask('set enable_seqscan = off')
	for (const plan of await plansBy(server.db.dialect, ask, recorded)) {
		expect(plan).toMatch(/_by_length_and_number|number_skips_by_number/)
		expect(plan).not.toMatch(/Seq Scan|SCAN (invoices|invoice_tombstones|number_skips)\b/)
		if (server.db.dialect === 'sqlite') expect(plan).not.toMatch(/_by_length_and_number \(organizationId=\?( AND <expr>=\?)?\)/)
	}
	expect(await largestUsed(server.db, key.organizationId, key.series)).toBe(11_000)
})
