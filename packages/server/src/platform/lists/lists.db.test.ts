// What all lists have alike: cursors, links to the next page, totals up to a bound.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { dayMs } from '../base/dates.ts'

let server: TestServer
let tenant: Tenant
const paths: Record<string, string> = {}
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
	await fill()
})
afterAll(() => server.close())

const count = 7
const post = async (path: string, body: object = {}) => (await tenant.ask('POST', path, { body })).body

/** Makes at least `count` records of each list. Every second one has the time of the one before. */
async function fill(): Promise<void> {
	const { id: endpointId } = await post('/webhooks/endpoints', { url: 'https://receiver.example', eventTypes: ['*'] })
	const source = { system: 'http_json', object: 'people' }
	const [first] = [await post('/api/invoices', { totalCents: 1_000_000 })]
	for (let n = 0; n < count; n++) {
		server.clock.now += n % 2
		const { id: companyId } = await post('/api/companies', { name: `Über ${n % 3}` })
		await post('/api/contacts', { name: `Ada ${n}`, companyId })
		const { id: dealId } = await post('/api/deals', { name: `Deal ${n}` })
		await tenant.newTimeEntry({ dealId, startedAt: 1_000_000 + (n % 3) })
		await post('/api/pipelines', { name: `P${n}`, stages: [{ key: 'a', label: 'A', type: 'won' }] })
		await post('/api/tax-rates', { name: `VAT ${n}`, percent: '19' })
		await post('/api/invoices', { invoiceNumber: `INV-${10 * n + 10}`, totalCents: 100 })
		await post(`/api/invoices/${first.id}/send`, { to: `a${n}@acme.example` })
		await post('/api/payments', { amountCents: 1, currency: 'USD', invoiceId: first.id })
		await post('/mappings', { name: `M${n}`, source, target: { system: 'internal', object: 'company' }, fields: [] })
		await post('/connections', { provider: 'stripe', name: `C${n}`, authType: 'api_key', credentials: { apiKey: 'key' } })
		await post('/webhooks/endpoints', { url: `https://receiver${n}.example`, eventTypes: ['invoice.paid'] })
		await tenant.newKey(['read'])
	}
	// No attempt changes a delivery from here on.
	await tenant.ask('PATCH', `/webhooks/endpoints/${endpointId}`, { body: { status: 'paused' } })
	Object.assign(paths, {
		...{ companies: '/api/companies', contacts: '/api/contacts', deals: '/api/deals', pipelines: '/api/pipelines' },
		...{ entries: '/api/time-entries', rates: '/api/tax-rates', invoices: '/api/invoices', payments: '/api/payments' },
		...{ mappings: '/mappings', connections: '/connections', endpoints: '/webhooks/endpoints', keys: '/api-keys' },
		...{ deliveries: '/webhooks/deliveries', 'deliveries of a kind': '/webhooks/deliveries?type=company.*' },
		...{
			events: '/webhooks/events',
			'events of a kind': '/webhooks/events?type=deal.*',
			audit: `/api/audit?resource=${first.id}`,
		},
		...{ newest: '/webhooks/events?order=desc', gaps: '/api/number-gaps', emails: `/api/invoices/${first.id}/emails` },
		...{ history: `/api/invoices/${first.id}/history`, types: '/webhooks/event-types', defaults: '/mappings/defaults' },
		...{ providers: '/connections/providers', search: '/api/companies?search=uber&sortOrder=desc' },
		...{ 'by time': '/api/companies?sortBy=createdAt', 'of an invoice': `/api/payments?invoiceId=${first.id}` },
	})
}

const lists = [
	...['companies', 'contacts', 'deals', 'pipelines', 'entries', 'rates', 'invoices', 'payments', 'mappings', 'connections'],
	...[
		'endpoints',
		'keys',
		'deliveries',
		'deliveries of a kind',
		'events',
		'events of a kind',
		'audit',
		'newest',
		'gaps',
		'emails',
	],
	...['history', 'types', 'defaults', 'providers', 'search', 'by time', 'of an invoice'],
]
const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`
const uncounted = new Set(['audit', 'history', 'invoices'])
const nextOf = (headers: Headers) => /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]

describe.each(lists)('the list %s', (name) => {
	it('gives each record once by the links from page to page, in the order of the whole', async () => {
		const path = paths[name] as string
		const all = (await tenant.ask('GET', withQuery(path, 'limit=100'))).body.data
		expect(all.length).toBeGreaterThan(2)
		const seen: unknown[] = []
		for (let next: string | undefined = withQuery(path, 'limit=3'); next; ) {
			const { status, headers, body } = await tenant.ask('GET', next)
			expect(status).toBe(200)
			seen.push(...body.data)
			const isLast = seen.length >= all.length
			next = nextOf(headers)
			expect(next === undefined).toBe(isLast)
			if (name === 'invoices') expect(Object.keys(body)).toEqual(['data'])
			else expect(body.meta).toMatchObject({ hasMore: !isLast, limit: 3, offset: 0 })
			if (next && body.meta) expect(new URLSearchParams(next.split('?')[1]).get('cursor')).toBe(body.meta.nextCursor)
		}
		expect(seen).toEqual(all)
	})

	it('says how many records it has, at any offset, and nothing beyond its end', async () => {
		const path = paths[name] as string
		const all = (await tenant.ask('GET', withQuery(path, 'limit=100'))).body.data
		const total = uncounted.has(name) ? null : all.length
		// Deliveries of several types are merged, and refuse an offset beyond 10,000.
		const far = name === 'deliveries of a kind' ? [] : [1_000_000, 999_999_999]
		for (const offset of [0, 2, all.length - 1, all.length, ...far]) {
			const { body, headers } = await tenant.ask('GET', withQuery(path, `limit=2&offset=${offset}`))
			const hasMore = offset + 2 < all.length
			expect([offset, body.data]).toEqual([offset, all.slice(offset, offset + 2)])
			expect(nextOf(headers) !== undefined).toBe(hasMore)
			if (name !== 'invoices') expect(body.meta).toMatchObject({ total, hasMore, limit: 2, offset })
		}
	})

	it('refuses a cursor of another list, another organization, of old, and one that was altered', async () => {
		const path = paths[name] as string
		if (path.startsWith('/webhooks/events')) return
		const next = nextOf((await tenant.ask('GET', withQuery(path, 'limit=1'))).headers)
		const cursor = new URLSearchParams(next?.split('?')[1]).get('cursor') as string
		const refused = { status: 400, body: { code: 'invalid_request', errors: [{ parameter: 'cursor' }] } }
		const ask = (text: string, at = path, of = tenant) => of.ask('GET', withQuery(at, `cursor=${text}`))
		expect((await ask(cursor)).status).toBe(200)
		const altered = (cursor[9] === 'A' ? 'B' : 'A') + cursor.slice(1)
		for (const text of [altered, 'x', `${cursor}x`, '%00', '', 'whd_1'])
			expect([text, await ask(text)]).toMatchObject([text, refused])
		const stranger = await server.newTenant()
		if (!/emails|history/.test(name)) expect(await ask(cursor, path, stranger)).toMatchObject(refused)
		const other = path.startsWith('/api/deals') ? '/api/contacts' : '/api/deals'
		expect(await ask(cursor, other)).toMatchObject(refused)
		server.clock.now -= 365 * dayMs
		const old = (await tenant.ask('GET', withQuery(path, 'limit=1'))).headers
		server.clock.now += 365 * dayMs
		const oldCursor = new URLSearchParams(nextOf(old)?.split('?')[1]).get('cursor') as string
		expect(await ask(oldCursor)).toMatchObject(refused)
	})
})

it('a cursor holds for its filters and its order alone', async () => {
	const refused = { status: 400, body: { errors: [{ parameter: 'cursor' }] } }
	const cursor = (await tenant.ask('GET', '/api/companies?limit=1')).body.meta.nextCursor
	for (const query of ['search=uber', 'sortBy=createdAt', 'sortOrder=desc'])
		expect(await tenant.ask('GET', `/api/companies?limit=1&${query}&cursor=${cursor}`)).toMatchObject(refused)
	// The default order, written out.
	const same = await tenant.ask('GET', `/api/companies?limit=2&sortBy=name&sortOrder=asc&cursor=${cursor}`)
	expect(same.body).toMatchObject({ meta: { total: count, hasMore: true } })
})

it('records that come and go between two pages neither repeat nor hide others', async () => {
	const of = await server.newTenant()
	const made: string[] = []
	for (let n = 0; n < 6; n++) made.unshift((await of.ask('POST', '/api/contacts', { body: { name: `${n}` } })).body.id)
	const sorted = (await of.ask('GET', '/api/contacts')).body.data.map(({ id }: { id: string }) => id)
	const first = (await of.ask('GET', '/api/contacts?limit=3')).body
	server.clock.now += 5
	await of.ask('POST', '/api/contacts', { body: { name: 'new' } })
	for (const id of [sorted[0], sorted[2]]) await of.ask('DELETE', `/api/contacts/${id}`)
	const rest = (await of.ask('GET', `/api/contacts?limit=9&cursor=${first.meta.nextCursor}`)).body
	expect(rest.data.map(({ id }: { id: string }) => id)).toEqual(sorted.slice(3))
	expect(rest.meta).toMatchObject({ total: null, hasMore: false, nextCursor: null })
	expect(sorted.toSorted()).toEqual(made.toSorted())
})

it('the SDK reads every list to its end by cursor', async () => {
	const { remit } = tenant
	const idsOf = async (list: AsyncIterable<{ id: string }>) => {
		const ids: string[] = []
		for await (const { id } of list) ids.push(id)
		return ids
	}
	const of = [remit.companies, remit.contacts, remit.invoices, remit.payments, remit.webhooks.deliveries, remit.webhooks.events]
	for (const resource of of) {
		const whole = (await resource.list({ limit: 100 })).data.map(({ id }) => id)
		expect(await idsOf(resource.list({ limit: 2 }))).toEqual(whole)
	}
})
