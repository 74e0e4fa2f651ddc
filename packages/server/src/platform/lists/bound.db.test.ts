// Lists of more records than are counted.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { grow } from '../../../test/grow.ts'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { connect } from '../../../test/plans.ts'
import type { Ask } from '../../../test/tables.ts'
import { countBound } from '../db/pages.ts'

let server: TestServer
let ask: Ask
let end: () => unknown
// Half of the time entries are open, and these are more than are counted.
const rows = 21_000
const tables = ['companies', 'contacts', 'deals', 'payments', 'time_entries', 'events', 'webhook_deliveries']
beforeAll(async () => {
	server = await startTestServer()
	;({ ask, end } = await connect(server.settings))
	await grow(server, ask, rows, { tables })
})
afterAll(async () => {
	await ask("delete from events where id like 'evt_grown%'")
	await end()
	await server.close()
})

const list = async (path: string) => (await server.ask('GET', path)).body
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

it('counts up to the bound that the contract names', async () => {
	expect(countBound).toBe(10_000)
	// Of 21,000 contacts a hundred companies have every seventh.
	expect((await list('/api/contacts?companyId=cmp_grown1&limit=1')).meta).toMatchObject({ total: 30, hasMore: true })
	expect((await list('/api/deals?stage=won&limit=1')).meta).toMatchObject({ total: rows / 5, hasMore: true })
})

describe.each([
	'/api/contacts',
	'/api/deals',
	'/api/deals?stage=lead',
	'/api/payments',
	'/api/payments?source=manual',
	'/api/time-entries',
	'/api/time-entries?status=open',
	'/webhooks/deliveries',
	'/webhooks/deliveries?status=succeeded',
	'/webhooks/events',
	'/webhooks/events?type=company.updated',
	'/webhooks/events?type=company.*',
	'/webhooks/events?type=company.updated&since=1',
])('%s', (path) => {
	const at = (query: string) => list(`${path}${path.includes('?') ? '&' : '?'}${query}`)

	it('has no total, but says that there is more', async () => {
		expect((await at('limit=1')).meta).toMatchObject({ total: null, hasMore: true, limit: 1, offset: 0 })
	})

	// On PostgreSQL the copies of an event have no places of their own.
	if (inject('database') === 'postgres' && path.startsWith('/webhooks/events')) return

	it('finds the page behind a deep offset, which is that behind the cursor before it', async () => {
		const before = await at('limit=3&offset=10200')
		const behind = await at(`limit=3&cursor=${before.meta.nextCursor}`)
		expect(idsOf(await at('limit=3&offset=10203'))).toEqual(idsOf(behind))
		expect(new Set([...idsOf(before), ...idsOf(behind)]).size).toBe(6)
		for (const offset of [200_000, 999_999_999])
			expect(await at(`offset=${offset}`)).toMatchObject({ data: [], meta: { total: null, hasMore: false } })
	})
})

it('companies have their exact total at any length', async () => {
	const [row] = await ask(
		`select count(*) as n from companies where "organizationId" = ? and "deletedAt" is null`.replace(
			'?',
			`'${server.organizationId}'`,
		),
	)
	const total = Number(row?.n)
	expect(total).toBeGreaterThan(rows)
	expect((await list('/api/companies?limit=1')).meta).toMatchObject({ total, hasMore: true })
	expect((await list('/api/companies?search=grown&limit=1')).meta).toMatchObject({ total: 500, isAtLeast: true, hasMore: true })
	expect((await list(`/api/companies?offset=${total - 1}`)).meta).toMatchObject({ total, hasMore: false })
	expect(await list('/api/companies?offset=999999999')).toMatchObject({
		data: [],
		meta: { total, hasMore: false, nextCursor: null },
	})
})
