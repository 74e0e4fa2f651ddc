// The search in all kinds of record.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'

let server: TestServer
let tenant: Tenant
let ids: Record<'company' | 'contact' | 'deal' | 'invoice' | 'entry', string>
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
	const company = await post('/api/companies', { name: 'Heron', domain: 'heron.example' })
	const contact = await post('/api/contacts', { name: 'Henry Heron', email: 'henry@heron.example', companyId: company })
	const deal = await post('/api/deals', { name: 'Heron website', companyId: company })
	const invoice = await post('/api/invoices', { companyId: company, invoiceNumber: 'INV-0042' })
	const entry = await tenant.newTimeEntry({ dealId: deal, taskName: 'Design', description: 'Logo for Heron' })
	ids = { company, contact, deal, invoice, entry }
})
afterAll(() => server.close())

const post = async (path: string, body: object): Promise<string> => (await tenant.ask('POST', path, { body })).body.id
const hits = async (q: string, key = tenant.key) => {
	const { status, body } = await tenant.ask('GET', `/api/search?${new URLSearchParams({ q })}`, { key })
	expect(status).toBe(200)
	return body.data
}
const idsOf = (found: { id: string }[]) => found.map(({ id }) => id)

it('finds the record of that name first, then the best of each kind', async () => {
	expect(await hits('heron')).toEqual([
		{ kind: 'company', id: ids.company, title: 'Heron', subtitle: 'heron.example' },
		{ kind: 'contact', id: ids.contact, title: 'Henry Heron', subtitle: 'henry@heron.example' },
		{ kind: 'deal', id: ids.deal, title: 'Heron website', subtitle: 'Heron' },
		{ kind: 'invoice', id: ids.invoice, title: 'INV-0042', subtitle: 'Heron' },
		{ kind: 'time_entry', id: ids.entry, title: 'Design', subtitle: 'Logo for Heron' },
	])
	expect(idsOf(await hits('henry heron'))[0]).toBe(ids.contact)
	expect(await hits('inv-42')).toEqual([{ kind: 'invoice', id: ids.invoice, title: 'INV-0042', subtitle: 'Heron' }])
	expect(await tenant.remit.search.list({ q: 'logo' })).toHaveLength(1)
})

it('finds nothing without a text, and nothing by one without a letter or digit', async () => {
	for (const q of ['', '%', '"', "'", '(', '\\', '#', '🦊', '\u0001\u0002']) expect(await hits(q)).toEqual([])
	expect((await tenant.ask('GET', '/api/search')).body).toEqual({ data: [] })
})

it('finds a name in quotes at each key', async () => {
	for (const q of ['"H', '"He', '"Heron', '"Heron"'])
		expect((await hits(q)).map(({ title }: { title: string }) => title)).toContain('Heron')
})

it('shows a key what it may read, and of a company it may not read not even the name', async () => {
	const { key: invoices } = await tenant.newKey(['invoices:read'])
	expect(await hits('inv-42', invoices)).toEqual([{ kind: 'invoice', id: ids.invoice, title: 'INV-0042', subtitle: null }])
	expect(await hits('heron', invoices)).toEqual([])
	const { key: companies } = await tenant.newKey(['companies:write', 'invoices:read', 'contacts:read'], {
		resources: ['company', 'invoice'],
	})
	expect(idsOf(await hits('heron', companies))).toEqual([ids.company, ids.invoice])
	const { key: integration } = await tenant.newKey(['read'])
	const refused = await tenant.ask('GET', '/api/search?q=heron', { key: integration })
	expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
})

it('has ten records at most, and of every kind that has any', async () => {
	for (let n = 0; n < 12; n++) await post('/api/companies', { name: `Bittern ${n}` })
	const deal = await post('/api/deals', { name: 'For Bittern' })
	const exact = await post('/api/companies', { name: 'Bittern' })
	const found = await hits('bittern')
	expect(found).toHaveLength(10)
	expect(found[0].id).toBe(exact)
	expect(idsOf(found)).toContain(deal)
})

it('finds nothing of others, and nothing that was deleted', async () => {
	const other = await server.newTenant()
	expect((await other.ask('GET', '/api/search?q=heron')).body.data).toEqual([])
	const gone = await post('/api/contacts', { name: 'Egret' })
	await tenant.ask('DELETE', `/api/contacts/${gone}`)
	expect(await hits('egret')).toEqual([])
})
