import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { names, search, tenantWith } from '../../../test/companies.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const read = async ({ ask }: Tenant, id: string) => (await ask('GET', `/api/companies/${id}`)).body.data

const billing = {
	billingContactName: 'Ada Lovelace',
	billingAddressLine1: 'Unter den Linden 1',
	billingAddressLine2: 'Hinterhaus',
	billingCity: 'Berlin',
	billingState: 'BE',
	billingPostalCode: '10117',
	billingCountry: 'Germany',
	billingEmail: 'billing@acme.example',
}
const numbers = { taxId: '12/345/67890', vatId: 'DE136695976' }
const details = {
	...numbers,
	language: 'de' as const,
	domain: 'acme.example',
	phone: '+49 30 901820',
	notes: 'Line one\nLine two',
	...billing,
}
const nothing = Object.fromEntries(Object.keys(details).map((field) => [field, null]))

describe('creating a company', () => {
	it('needs a name and nothing else', async () => {
		const created = await server.ask('POST', '/api/companies', { body: { name: 'Acme' } })
		expect(created.status).toBe(201)
		expect(created.body).toEqual({ id: expect.stringMatching(/^cmp_[A-Za-z0-9]{20}$/) })
		expect(created.headers.get('location')).toBe(`/api/companies/${created.body.id}`)
		expect(await read(server, created.body.id)).toEqual({
			id: created.body.id,
			organizationId: server.organizationId,
			name: 'Acme',
			...nothing,
			createdAt: server.clock.now,
			updatedAt: server.clock.now,
			deletedAt: null,
			version: 1,
		})
	})

	it('takes every other field as well, as it was written, but for the white space around a name', async () => {
		const tenant = await tenantWith(server, { name: '  Ácme & Söhne "GmbH" ', ...details })
		expect(await read(tenant, tenant.ids[0] as string)).toMatchObject({ name: 'Ácme & Söhne "GmbH"', ...details })
	})

	it.each([
		['no name', {}, '/name'],
		['an empty name', { name: '' }, '/name'],
		['a name of white space', { name: ' \u00a0 ' }, '/name'],
		['no name but null', { name: null }, '/name'],
		['a name that is a number', { name: 7 }, '/name'],
		['a name of 201 characters', { name: 'x'.repeat(201) }, '/name'],
		['a name of two lines', { name: 'a\nb' }, '/name'],
		['a NUL in the notes', { name: 'a', notes: 'a\u0000' }, '/notes'],
		['half a surrogate pair', { name: 'a\ud800' }, '/name'],
		['an e-mail address that is none', { name: 'a', billingEmail: 'nobody' }, '/billingEmail'],
		['a field that the server sets', { name: 'a', deletedAt: 1 }, '/deletedAt'],
		['a field called __proto__', JSON.parse('{"name":"a","__proto__":{"a":1}}'), '/__proto__'],
	])('is refused with %s', async (_name, body, pointer) => {
		const refused = await server.ask('POST', '/api/companies', { body })
		expect(refused.status).toBe(400)
		expect(refused.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
	})

	it.each(['!!!', '—', '🦊', '√2', "';--", 'ᴀ', '㌀'.repeat(200), '𝕏'.repeat(100)])(
		'takes the name %s, lists it and finds it by its own text when there are words in it',
		async (name) => {
			const tenant = await tenantWith(server, name, 'Other')
			expect((await names(tenant)).sort()).toEqual([name, 'Other'].sort())
			if (/[\p{L}\p{N}]/u.test(name.normalize('NFKD'))) expect(await search(tenant, name)).toEqual([name])
		},
	)
})

describe.each(['PATCH', 'PUT'])('%s of a company', (method) => {
	it('changes what is sent and leaves what is absent', async () => {
		const { ask, ids, ...tenant } = await tenantWith(server, { name: 'Acme', ...details })
		const path = `/api/companies/${ids[0]}`
		server.clock.now += 5
		expect((await ask(method, path, { body: { phone: '1', billingCity: 'Paris' } })).body).toEqual({ ok: true })
		const expected = { name: 'Acme', ...details, phone: '1', billingCity: 'Paris', updatedAt: server.clock.now, version: 2 }
		const { data } = (await ask('GET', path)).body
		expect(data).toMatchObject(expected)
		expect(data.createdAt).toBe(server.clock.now - 5)
		expect(data.organizationId).toBe(tenant.organizationId)
	})

	it('clears with null, but not the name', async () => {
		const { ask, ids } = await tenantWith(server, { name: 'Acme', ...details })
		const path = `/api/companies/${ids[0]}`
		expect((await ask(method, path, { body: { name: null } })).status).toBe(400)
		expect((await ask(method, path, { body: nothing })).status).toBe(200)
		expect((await ask('GET', path)).body.data).toMatchObject({ name: 'Acme', ...nothing })
	})
})

describe('deleting a company', () => {
	it('hides it from every read, and answers 404 to whatever comes after', async () => {
		const tenant = await tenantWith(server, 'Acme', 'Other')
		const path = `/api/companies/${tenant.ids[0]}`
		expect(await tenant.ask('DELETE', path)).toMatchObject({ status: 200, body: { ok: true } })
		for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
			const body = method.startsWith('P') ? { name: 'Back' } : undefined
			expect(await tenant.ask(method, path, { body })).toMatchObject({ status: 404, body: { code: 'company_not_found' } })
		}
		expect(await names(tenant)).toEqual(['Other'])
		expect(await names(tenant, { sortBy: 'createdAt' })).toEqual(['Other'])
		expect(await search(tenant, 'acme')).toEqual([])
	})

	it('keeps the records that reference it working, and lets no new one reference it', async () => {
		const { ask, ids } = await tenantWith(server, { name: 'Acme', ...billing })
		const companyId = ids[0]
		const { body } = await ask('POST', '/api/invoices', { body: { companyId, status: 'sent' } })
		const draft = await ask('POST', '/api/invoices', { body: { companyId } })
		await ask('DELETE', `/api/companies/${companyId}`)
		const invoice = (await ask('GET', `/api/invoices/${body.id}`)).body.data
		expect(invoice).toMatchObject({ companyId, billTo: { name: 'Acme', city: 'Berlin' } })
		expect((await ask('PATCH', `/api/invoices/${body.id}`, { body: { companyId, status: 'paid' } })).status).toBe(200)
		expect((await ask('PATCH', `/api/invoices/${draft.body.id}`, { body: { status: 'sent' } })).status).toBe(200)
		expect((await ask('GET', `/api/invoices?companyId=${companyId}`)).body.data).toHaveLength(2)
		const refused = await ask('POST', '/api/invoices', { body: { companyId } })
		expect(refused).toMatchObject({ status: 422, body: { code: 'unknown_company' } })
	})

	it('leaves its name free for another', async () => {
		const tenant = await tenantWith(server, 'Acme', 'Acme')
		await tenant.ask('DELETE', `/api/companies/${tenant.ids[0]}`)
		await tenant.ask('POST', '/api/companies', { body: { name: 'Acme' } })
		expect(await names(tenant)).toEqual(['Acme', 'Acme'])
	})
})

describe('the list of companies', () => {
	const sorted = ['Älgen', 'alpha', 'ÉCLAIR', 'eclipse', 'Łódź', 'Øre', 'STRASSE 1', 'straße 2', 'Zürich']

	it('goes by name, regardless of case and accents, both ways', async () => {
		const tenant = await tenantWith(server, ...sorted.toReversed())
		expect(await names(tenant)).toEqual(sorted)
		expect(await names(tenant, { sortBy: 'name', sortOrder: 'asc' })).toEqual(sorted)
		expect(await names(tenant, { sortOrder: 'desc' })).toEqual(sorted.toReversed())
	})

	it('goes by creation when asked to, and a rename does not move it', async () => {
		const tenant = await server.newTenant()
		for (const name of ['Second', 'First', 'Third']) {
			server.clock.now++
			await tenant.ask('POST', '/api/companies', { body: { name } })
		}
		expect(await names(tenant, { sortBy: 'createdAt' })).toEqual(['Second', 'First', 'Third'])
		const { data } = (await tenant.ask('GET', '/api/companies?sortBy=createdAt&sortOrder=desc')).body
		expect(data.map(({ name }: { name: string }) => name)).toEqual(['Third', 'First', 'Second'])
		await tenant.ask('PATCH', `/api/companies/${data[2].id}`, { body: { name: 'Zuletzt' } })
		expect(await names(tenant, { sortBy: 'createdAt' })).toEqual(['Zuletzt', 'First', 'Third'])
		expect(await names(tenant)).toEqual(['First', 'Third', 'Zuletzt'])
	})

	it('is {data, meta} in pages that hold every company once, also when names and times are equal', async () => {
		const tenant = await tenantWith(server, ...Array.from({ length: 23 }, (_, index) => (index % 2 ? 'Same' : 'Same too')))
		for (const order of ['', '&sortOrder=desc', '&sortBy=createdAt', '&search=same']) {
			const seen: string[] = []
			for (let offset = 0; offset < 30; offset += 5) {
				const { body } = await tenant.ask('GET', `/api/companies?limit=5&offset=${offset}${order}`)
				expect(Object.keys(body)).toEqual(['data', 'meta'])
				const hasMore = offset + 5 < 23
				const nextCursor = hasMore ? expect.any(String) : null
				expect(body.meta).toEqual({ total: 23, limit: 5, offset, hasMore, nextCursor })
				seen.push(...body.data.map(({ id }: { id: string }) => id))
			}
			expect(seen.toSorted()).toEqual(tenant.ids.toSorted())
		}
	})

	it('has 50 unless the query sets a limit, and at most 100', async () => {
		const { ask } = await tenantWith(server, ...Array.from({ length: 101 }, (_, index) => `Company ${index}`))
		const first = await ask('GET', '/api/companies')
		expect(first.body).toMatchObject({ meta: { total: 101, limit: 50, offset: 0 } })
		expect(first.body.data).toHaveLength(50)
		expect((await ask('GET', '/api/companies?limit=100')).body.data).toHaveLength(100)
	})

	it.each([
		['limit', '101'],
		['limit', '0'],
		['limit', '-1'],
		['limit', 'abc'],
		['limit', '1.5'],
		['limit', ''],
		['offset', '-1'],
		['offset', 'x'],
		['offset', '1e10'],
		['sortBy', 'phone'],
		['sortBy', 'Name'],
		['sortOrder', 'up'],
		['search', 'a\u0000'],
		['search', 'x'.repeat(201)],
		['page', '1'],
	])('refuses %s=%s and names it', async (parameter, value) => {
		const refused = await server.ask('GET', `/api/companies?${new URLSearchParams([[parameter, value]])}`)
		expect(refused.status).toBe(400)
		expect(refused.body.errors).toContainEqual(expect.objectContaining({ parameter }))
	})

	it('refuses a parameter that is given twice', async () => {
		for (const query of ['limit=1&limit=2', 'search=a&search=b', 'sortBy=name&sortBy=name', 'search[]=a']) {
			expect((await server.ask('GET', `/api/companies?${query}`)).status).toBe(400)
		}
	})
})
