// A search that finds more than it ranks, beside filters and in other orders: all of what it finds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { type Filters, filtered, growInvoices, middle, type Row, removeGrown, sorted } from '../../../test/invoice-rows.ts'
import { connect } from '../../../test/plans.ts'
import { type Ask, readTables } from '../../../test/tables.ts'
import { mostChosen, mostFound } from './store.ts'

let server: TestServer
let tenant: Tenant
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer()
	server.clock.now = middle
	;({ ask, end } = await connect(server.settings))
	tenant = await server.newTenant()
}, 120_000)
afterAll(async () => {
	await removeGrown(ask)
	await end()
	await server.close()
})

interface Listed {
	readonly ids: string[]
	readonly total: number | null | undefined
	readonly truncated: boolean
	readonly pages: number
}

/** A list to its end, with what its first page says of the whole. */
async function all(path: string, key = tenant.key): Promise<Listed> {
	const ids: string[] = []
	let [first, pages]: [Listed | undefined, number] = [undefined, 0]
	for (let next: string | undefined = path; next; pages++) {
		const { status, body, headers }: Awaited<ReturnType<Tenant['ask']>> = await tenant.ask('GET', next, { key })
		expect(status).toBe(200)
		ids.push(...body.data.map(({ id }: { id: string }) => id))
		const counted = headers.get('x-total-count')
		const total = body.meta ? body.meta.total : counted === null ? null : Number(counted)
		first ??= { ids, total, truncated: body.meta?.truncated ?? false, pages }
		next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
	}
	return { ...(first as Listed), pages }
}

describe('invoices', () => {
	const count = 6 * mostChosen
	let rows: Row[]
	beforeAll(async () => {
		rows = await growInvoices(server, tenant, ask, count)
		await ask(`update invoices set "searchText" = case when "totalCents" % 3 = 0 then 'inv kept' when "totalCents" % 50 = 1 then 'rare'
			else 'other' end where id like 'inv_grown%'`)
	}, 120_000)

	const wordsOf = ({ id, totalCents, companyId }: Row) => {
		if (!id.startsWith('inv_grown')) return []
		const own = totalCents % 3 === 0 ? ['inv', 'kept'] : totalCents % 50 === 1 ? ['rare'] : ['other']
		return [...own, ...(companyId ? ['acme'] : [])]
	}
	const matching = (search: string, filters: Filters) =>
		filtered(rows, filters, 'UTC', server.clock.now).filter((row) =>
			search
				.toLowerCase()
				.split(' ')
				.every((word) => wordsOf(row).some((known) => known.startsWith(word))),
		)

	it.each<[string, Filters, string, string]>([
		['INV', { status: 'paid' }, 'createdAt', 'desc'],
		['inv', { status: ['sent', 'overdue'], currency: 'EUR' }, 'createdAt', 'desc'],
		['inv ke', {}, 'totalCents', 'asc'],
		['other', {}, 'dueDate', 'desc'],
		['inv', { currency: 'JPY' }, 'createdAt', 'desc'],
		['inv', { isOverdue: true }, 'invoiceNumber', 'asc'],
		['rare', { status: 'paid' }, 'createdAt', 'asc'],
		['acme', { status: 'paid' }, 'createdAt', 'desc'],
		['acme inv', { currency: 'EUR' }, 'issuedDate', 'asc'],
		['nothing', { status: 'paid' }, 'createdAt', 'desc'],
	])('%s %j by %s %s are found to the last, in their order', async (search, filters, sortBy, sortOrder) => {
		const query = { search, ...filters, sortBy, sortOrder, fields: 'summary', limit: 100, count: true }
		const texts = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
		const path = `/api/invoices?${new URLSearchParams(texts)}`
		const expected = sorted(matching(search, filters), sortBy, sortOrder).map(({ id }) => id)
		const { ids, total } = await all(path)
		expect(ids).toEqual(expected)
		// It is not said where too many were to be looked at.
		expect([expected.length, null]).toContain(total)
		if (expected.length <= mostFound) expect({ search, total }).toEqual({ search, total: expected.length })
		const { body } = await tenant.ask('GET', `${path}&offset=7`)
		const page = body.data.map(({ id }: { id: string }) => id)
		expect(page).toEqual(expected.slice(7, 7 + page.length))
	})

	it('have the words by themselves or all by their company, whatever the number of others', async () => {
		const companies = await Promise.all(
			['Walk 1', 'Walk 2'].map(async (name) => (await tenant.remit.companies.create({ name })).id),
		)
		const [one, two] = companies as [string, string]
		const { id } = await tenant.remit.invoices.create({ invoiceNumber: 'X-1', companyId: two })
		const path = '/api/invoices?search=walk+1&sortBy=totalCents&limit=100'
		expect((await all(path)).ids).toEqual([id])
		for (const most of [5, mostChosen + 5]) {
			await ask(`update invoices set "companyId" = '${one}' where id in
				(select id from invoices where id like 'inv_grown%' and "companyId" is null order by id limit ${most})`)
			expect((await all(path)).ids).not.toContain(id)
		}
		await ask(`update invoices set "companyId" = null where "companyId" = '${one}'`)
		await tenant.remit.invoices.delete(id)
	})

	it('take no offset that looks at more than a page may', async () => {
		const path = '/api/invoices?search=other&sortBy=totalCents&count=true'
		expect((await tenant.ask('GET', `${path}&offset=7`)).status).toBe(200)
		const deep = await tenant.ask('GET', `${path}&offset=${2 * mostChosen}`)
		expect([deep.status, deep.body.errors]).toMatchObject([400, [{ parameter: 'offset', code: 'range' }]])
	})

	it('are found by company in a walk only for a key that may read companies', async () => {
		const companyId = (await tenant.remit.companies.create({ name: 'Other trader' })).id
		await ask(`update invoices set "companyId" = '${companyId}' where id like 'inv_grown%' and "totalCents" % 3 = 0`)
		const { key } = await tenant.newKey(['invoices:read'])
		const path = '/api/invoices?search=other&sortBy=totalCents&limit=100'
		const [mine, theirs] = [await all(path), await all(path, key)]
		expect(mine.ids.length - theirs.ids.length).toBe(rows.filter((row) => wordsOf(row).includes('inv')).length)
		await ask(`update invoices set "companyId" = null where "companyId" = '${companyId}'`)
	})

	it('are the best alone where nothing but the search chooses', async () => {
		const { ids, total } = await all('/api/invoices?search=inv&limit=100&count=true')
		expect([ids.length, total]).toEqual([mostFound, null])
	})
})

describe.each([
	['/api/deals', 'deals', 'stage=won', 'stage'],
	['/api/contacts', 'contacts', 'email=one@acme.example', 'email'],
])('%s', (path, table, filter, column) => {
	const count = 4 * mostChosen
	const value = filter.split('=')[1]
	beforeAll(async () => {
		if (table === 'deals') await tenant.newDeal({ name: 'Source' })
		else await tenant.ask('POST', '/api/contacts', { body: { name: 'Source' } })
		const columns = (await readTables(server.db.dialect, ask)).find(({ name }) => name === table)?.columns ?? []
		const own: Record<string, string> = {
			id: `'grown' || n`,
			createdAt: 'n',
			searchText: `case when n % 4 = 0 then 'blue heron ' || n else 'blue ' || n end`,
			[column]: `case when n % 3 = 0 then '${value}' else ${column === 'stage' ? "'lead'" : 'null'} end`,
		}
		const names = columns.filter((name) => name !== 'rowid')
		await ask(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
			insert into ${table} (${names.map((name) => `"${name}"`)}) select ${names.map((name) => own[name] ?? `"${name}"`)}
			from (select * from ${table} where "organizationId" = '${tenant.organizationId}' limit 1) as source, numbers`)
	}, 60_000)
	afterAll(() => ask(`delete from ${table} where id like 'grown%'`))

	const numbers = (step: number) => Array.from({ length: count }, (_, n) => count - n).filter((n) => n % step === 0)

	it('have all that a search finds beside a filter', async () => {
		const { ids, truncated } = await all(`${path}?search=blue&${filter}&limit=100`)
		expect([ids, truncated]).toEqual([numbers(3).map((n) => `grown${n}`), false])
		const exact = await all(`${path}?search=heron&${filter}&limit=100`)
		expect([exact.ids, exact.total]).toEqual([numbers(12).map((n) => `grown${n}`), Math.floor(count / 12)])
	})

	it('skip what an offset says', async () => {
		const at = async (offset: number) => tenant.ask('GET', `${path}?search=blue&${filter}&limit=1&offset=${offset}`)
		for (const offset of [9, numbers(3).length - 1, numbers(3).length, 100_000])
			expect((await at(offset)).body.data.map(({ id }: { id: string }) => id)).toEqual(
				numbers(3)
					.slice(offset, offset + 1)
					.map((n) => `grown${n}`),
			)
	})

	it('have the best alone where nothing but the search chooses', async () => {
		const { ids, truncated } = await all(`${path}?search=blue&limit=100`)
		expect([ids.length, truncated]).toEqual([mostFound, true])
	})
})
