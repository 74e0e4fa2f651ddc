// `search` of the lists of contacts, deals, time entries and invoices.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const post = async (path: string, body: object = {}): Promise<string> => (await tenant.ask('POST', path, { body })).body.id
const found = async (path: string, search: string, more: Record<string, string> = {}): Promise<string[]> => {
	const { status, body } = await tenant.ask('GET', `${path}?${new URLSearchParams({ search, ...more })}`)
	expect(status).toBe(200)
	if (body.meta) expect(body.meta.total).toBe(body.data.length)
	return body.data.map(({ id }: { id: string }) => id)
}

let zanders = 1_000
describe.each(['/api/companies', '/api/contacts', '/api/deals', '/api/time-entries', '/api/invoices'])('%s', (path) => {
	it.each(['%', '_', '"', "'", '*', '(', '\\', '#', '&', '🦊', '\u0301', '\u0001'.repeat(200)])(
		'finds nothing by %j, which has no word',
		async (search) => {
			const name = `Zander % _ " ' * ( # & ${search}`
			const timed = {
				dealId: await post('/api/deals', { name }),
				taskName: name,
				startedAt: server.clock.now,
				durationSeconds: 60,
			}
			const numbered = { invoiceNumber: `Zander ${++zanders} %` }
			await post(path, path === '/api/time-entries' ? timed : path === '/api/invoices' ? numbered : { name })
			expect(await found(path, 'zander %')).not.toEqual([])
			expect(await found(path, search)).toEqual([])
			expect(await found(path, search, { updatedSince: '100000000000' })).toEqual([])
		},
	)

	it('takes a blank search for none', async () => {
		const all = (await tenant.ask('GET', path)).body.data
		for (const search of ['', ' '])
			expect((await tenant.ask('GET', `${path}?${new URLSearchParams({ search })}`)).body.data).toEqual(all)
	})
})

describe('contacts', () => {
	it('are found by name and e-mail address, until they are deleted', async () => {
		const id = await post('/api/contacts', { name: 'Ada Lovelace', email: 'ada@engines.example' })
		await post('/api/contacts', { name: 'Charles Babbage' })
		for (const text of ['lovelace', 'ADA', 'ada@engines.example', 'lov eng'])
			expect(await found('/api/contacts', text)).toEqual([id])
		await tenant.ask('PATCH', `/api/contacts/${id}`, { body: { name: 'Augusta King' } })
		expect([await found('/api/contacts', 'lovelace'), await found('/api/contacts', 'king')]).toEqual([[], [id]])
		await tenant.ask('PATCH', `/api/contacts/${id}`, { body: { email: null } })
		expect(await found('/api/contacts', 'engines')).toEqual([])
		await tenant.ask('DELETE', `/api/contacts/${id}`)
		expect(await found('/api/contacts', 'king')).toEqual([])
	})
})

describe('deals', () => {
	it('are found by name beside the other filters, in pages, newest first', async () => {
		const companyId = await post('/api/companies', { name: 'Zenith' })
		const ids: string[] = []
		for (const name of ['Website Alpha', 'Website Beta', 'Logo', 'New website']) {
			server.clock.now++
			ids.unshift(await post('/api/deals', { name, companyId: name === 'Website Beta' ? companyId : null }))
		}
		const websites = [ids[0], ids[2], ids[3]]
		expect(await found('/api/deals', 'website')).toEqual(websites)
		expect(await found('/api/deals', 'website', { companyId })).toEqual([ids[2]])
		const first = (await tenant.ask('GET', '/api/deals?search=web&limit=2')).body
		expect(first.meta).toMatchObject({ total: 3, hasMore: true })
		const rest = (await tenant.ask('GET', `/api/deals?search=web&limit=2&cursor=${first.meta.nextCursor}`)).body
		expect([...first.data, ...rest.data].map(({ id }: { id: string }) => id)).toEqual(websites)
		const all: string[] = []
		for await (const { id } of tenant.remit.deals.list({ search: 'web', limit: 1 })) all.push(id)
		expect(all).toEqual(websites)
	})
})

describe('time entries', () => {
	it('are found by task, deliverable and description', async () => {
		const id = await tenant.newTimeEntry({ taskName: 'Design', deliverableName: 'Logo', description: 'Sketches for the façade' })
		await tenant.newTimeEntry({ description: 'Something else' })
		for (const text of ['design', 'logo sketch', 'facade']) expect(await found('/api/time-entries', text)).toEqual([id])
		expect(await found('/api/time-entries', 'facade', { status: 'invoiced' })).toEqual([])
		await tenant.ask('DELETE', `/api/time-entries/${id}`)
		expect(await found('/api/time-entries', 'facade')).toEqual([])
	})
})

describe('invoices', () => {
	it('are found by number, with and without its zeros, and by reference', async () => {
		const id = await post('/api/invoices', { invoiceNumber: 'RE-2026/0042', paymentReference: 'PO-77 Kranich' })
		const other = await post('/api/invoices', { invoiceNumber: 'RE-2026/0043' })
		for (const text of ['RE-2026/0042', '42', '0042', '2026 42', 'kranich', 'po-77', 're-2026/42'])
			expect({ text, ids: await found('/api/invoices', text) }).toEqual({ text, ids: [id] })
		expect((await found('/api/invoices', 're-2026')).sort()).toEqual([id, other].sort())
		// Typed to the end, letter by letter.
		for (const text of ['re-2026/0', 're-2026/00', '00'])
			expect({ text, ids: (await found('/api/invoices', text)).sort() }).toEqual({ text, ids: [id, other].sort() })
		await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { invoiceNumber: 'RE-2026/0999', paymentReference: null } })
		expect([await found('/api/invoices', 'kranich'), await found('/api/invoices', '999')]).toEqual([[], [id]])
		await tenant.ask('DELETE', `/api/invoices/${id}`)
		expect(await found('/api/invoices', '999')).toEqual([])
	})

	it('are found by a number with its zeros alone, not with those that have fewer', async () => {
		const ids: string[] = []
		for (const invoiceNumber of ['Snipe-0002', 'Snipe-0020', 'Snipe-0021', 'Snipe-0200']) {
			server.clock.now++
			ids.push(await post('/api/invoices', { invoiceNumber }))
		}
		for (const text of ['snipe-0002', '0002 snipe'])
			expect({ text, ids: await found('/api/invoices', text) }).toEqual({ text, ids: [ids[0]] })
		expect(await found('/api/invoices', 'snipe-2')).toHaveLength(4)
		expect(await found('/api/invoices', 'snipe-00')).toHaveLength(3)
		expect(await found('/api/invoices', 'snipe-002')).toEqual([ids[2], ids[1]])
	})

	it('are found by the company that they bill, also after it gets another name, and by words of both', async () => {
		const companyId = await post('/api/companies', { name: 'Heron & Sons', domain: 'heron.example' })
		const one = await post('/api/invoices', { companyId, invoiceNumber: 'H-1001', status: 'sent' })
		server.clock.now++
		const two = await post('/api/invoices', { companyId, invoiceNumber: 'H-1002' })
		await post('/api/invoices', { invoiceNumber: 'H-1003' })
		expect(await found('/api/invoices', 'heron')).toEqual([two, one])
		expect(await found('/api/invoices', 'https://www.heron.example/')).toEqual([two, one])
		expect(await found('/api/invoices', 'heron', { status: 'sent' })).toEqual([one])
		expect(await found('/api/invoices', 'sons 1001')).toEqual([one])
		expect(await found('/api/invoices', 'heron 1003')).toEqual([])
		await tenant.ask('PATCH', `/api/companies/${companyId}`, { body: { name: 'Kingfisher' } })
		expect(await found('/api/invoices', 'kingfisher')).toEqual([two, one])
		expect(await found('/api/invoices', 'sons')).toEqual([])
	})

	it('are not found by their company for a key that may not read companies', async () => {
		const companyId = await post('/api/companies', { name: 'Osprey' })
		await post('/api/invoices', { companyId })
		const idsFor = async (scopes: ('invoices:read' | 'companies:read')[]) => {
			const { key } = await tenant.newKey(scopes)
			return (await tenant.ask('GET', '/api/invoices?search=osprey', { key })).body.data.length
		}
		expect([await idsFor(['invoices:read']), await idsFor(['invoices:read', 'companies:read'])]).toEqual([0, 1])
	})

	it('go on behind a search by the link to the next page', async () => {
		const ids: string[] = []
		for (let n = 0; n < 3; n++) {
			server.clock.now++
			ids.unshift(await post('/api/invoices', { paymentReference: 'Bittern' }))
		}
		const seen: string[] = []
		for await (const { id } of tenant.remit.invoices.list({ search: 'bittern', limit: 2 })) seen.push(id)
		expect(seen).toEqual(ids)
	})
})

it('finds nothing of other organizations', async () => {
	const other = await server.newTenant()
	await post('/api/contacts', { name: 'Unique Person' })
	expect((await other.ask('GET', '/api/contacts?search=unique')).body.data).toEqual([])
})

it('the invoices of a deleted company are found by its name, also beside filters, and the company is not', async () => {
	const company = await post('/api/companies', { name: 'Vanished Vole' })
	const invoice = await post('/api/invoices', { companyId: company, totalCents: 100 })
	await tenant.ask('DELETE', `/api/companies/${company}`)
	expect(await found('/api/companies', 'vole')).toEqual([])
	for (const more of [{}, { status: 'draft' }, { sortBy: 'totalCents' }])
		expect(await found('/api/invoices', 'vanished vole', more as Record<string, string>)).toEqual([invoice])
	const hits = (await tenant.ask('GET', '/api/search?q=vole')).body.data
	expect(hits).toEqual([expect.objectContaining({ kind: 'invoice', id: invoice, subtitle: 'Vanished Vole' })])
	expect(await found('/api/invoices', 'vanished vole', { status: 'paid' })).toEqual([])
})
