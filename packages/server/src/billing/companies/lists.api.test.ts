// Lists of companies beside a plain page: by their changes, and by a search that very many match.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connect } from '../../../test/plans.ts'
import { type Ask, readTables } from '../../../test/tables.ts'
import { mostChosen } from '../search/store.ts'

let server: TestServer
let tenant: Tenant
let ask: Ask
let end: () => unknown

interface Row {
	readonly id: string
	readonly sortName: string
	readonly createdAt: number
	readonly updatedAt: number
	readonly words: readonly string[]
}
const count = 5 * mostChosen
const rows: Row[] = Array.from({ length: count }, (_, index) => {
	const n = index + 1
	const name = `${n % 4 === 0 ? 'blue heron' : n % 50 === 1 ? 'rare' : 'blue'} ${(n * 7919) % count}`
	return { id: `cmp_grown${n}`, sortName: name, createdAt: n, updatedAt: n * ((n % 3) + 1), words: name.split(' ') }
})

beforeAll(async () => {
	server = await startTestServer()
	;({ ask, end } = await connect(server.settings))
	tenant = await server.newTenant()
	const { id } = await tenant.remit.companies.create({ name: 'Source' })
	const columns = (await readTables(server.db.dialect, ask)).find(({ name }) => name === 'companies')?.columns ?? []
	const name = `case when n % 4 = 0 then 'blue heron ' when n % 50 = 1 then 'rare ' else 'blue ' end || ((n * 7919) % ${count})`
	const own: Record<string, string> = {
		...{ id: `'cmp_grown' || n`, createdAt: 'n', updatedAt: 'n * ((n % 3) + 1)' },
		...{ name, sortName: name, searchText: name },
	}
	const names = columns.filter((name) => name !== 'rowid')
	await ask(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
		insert into companies (${names.map((name) => `"${name}"`)}) select ${names.map((name) => own[name] ?? `"${name}"`)}
		from (select * from companies where id = '${id}') as source, numbers`)
	await tenant.remit.companies.delete(id)
}, 120_000)
afterAll(async () => {
	await end()
	await server.close()
})

/** A list to its end, with what its first page says of the whole. */
async function all(query: string) {
	const ids: string[] = []
	const metas: { total: number; isAtLeast?: boolean; truncated?: boolean }[] = []
	for (let next: string | undefined = `/api/companies?${query}`; next; ) {
		const { status, body, headers }: Awaited<ReturnType<Tenant['ask']>> = await tenant.ask('GET', next)
		expect({ query, status }).toEqual({ query, status: 200 })
		ids.push(...body.data.map(({ id }: { id: string }) => id))
		metas.push(body.meta)
		next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
	}
	return { ids, metas }
}

function expected(search: string | undefined, since: number | undefined, sortBy: string, sortOrder: string): string[] {
	const wanted = search?.split(' ') ?? []
	const isFound = ({ words, updatedAt }: Row) =>
		updatedAt >= (since ?? 0) && wanted.every((word) => words.some((known) => known.startsWith(word)))
	const key = (row: Row) => row[sortBy === 'name' ? 'sortName' : (sortBy as 'createdAt' | 'updatedAt')]
	const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
	const found = rows.filter(isFound).sort((a, b) => compare(key(a), key(b)) || compare(a.id, b.id))
	return (sortOrder === 'desc' ? found.reverse() : found).map(({ id }) => id)
}

const pick = <T>(values: readonly T[]) => values[Math.floor(Math.random() * values.length)] as T

describe('a list of companies', () => {
	it('has all that match, whatever is searched for, changed since, and in which order', async () => {
		for (let round = 0; round < 20; round++) {
			const search = pick([undefined, 'blue', 'heron', 'heron blue', 'rare', 'b', 'nothing', 'blue 1', '77'])
			const since = pick([undefined, undefined, 0, 1_000, 5_000, 7_000, 100_000])
			const [sortBy, sortOrder] = [pick(['name', 'createdAt', 'updatedAt']), pick(['asc', 'desc'])]
			const query = [
				...(search === undefined ? [] : [`search=${search}`]),
				...(since === undefined ? [] : [`updatedSince=${since}`]),
				...[`sortBy=${sortBy}`, `sortOrder=${sortOrder}`, `limit=${pick([60, 100])}`],
			].join('&')
			const ids = expected(search, since, sortBy, sortOrder)
			const found = await all(query)
			expect({ query, ids: found.ids }).toEqual({ query, ids })
			for (const { total, isAtLeast, truncated } of found.metas) {
				expect(truncated).toBeUndefined()
				if (isAtLeast) expect({ query, total }).toEqual({ query, total: Math.min(total, ids.length) })
				else expect({ query, total }).toEqual({ query, total: ids.length })
			}
			const offset = pick([0, 3, 60])
			const { body } = await tenant.ask('GET', `/api/companies?${query}&offset=${offset}`)
			const page = body.data.map(({ id }: { id: string }) => id)
			expect({ query, offset, page }).toEqual({ query, offset, page: ids.slice(offset, offset + page.length) })
		}
	})

	it('says how many match a search or a time of up to 500, and of more that there are at least as many', async () => {
		const meta = async (query: string) => (await tenant.ask('GET', `/api/companies?${query}&limit=1`)).body.meta
		expect(await meta('search=rare')).toMatchObject({ total: count / 50 })
		expect(await meta('search=rare')).not.toHaveProperty('isAtLeast')
		expect(await meta('search=blue')).toMatchObject({ total: mostChosen, isAtLeast: true, hasMore: true })
		for (const sortBy of ['name', 'updatedAt']) {
			const at = (since: number) => meta(`updatedSince=${since}&sortBy=${sortBy}`)
			expect(await at(1)).toMatchObject({ total: mostChosen, isAtLeast: true, hasMore: true })
			expect((await at(5_000)).total).toBe(rows.filter(({ updatedAt }) => updatedAt >= 5_000).length)
		}
	})

	it('takes a day as the time since which companies have changed, and refuses what is none', async () => {
		const changed = await server.newTenant()
		await changed.remit.companies.create({ name: 'Acme' })
		const at = new Date(server.clock.now).toISOString().slice(0, 10)
		expect((await changed.remit.companies.list({ updatedSince: at })).data).toHaveLength(1)
		expect((await changed.remit.companies.list({ updatedSince: server.clock.now + 1 })).data).toEqual([])
		const refused = await changed.ask('GET', '/api/companies?updatedSince=soon')
		expect(refused).toMatchObject({ status: 400, body: { errors: [{ parameter: 'updatedSince', code: 'format' }] } })
	})
})
