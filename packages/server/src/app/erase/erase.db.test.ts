// Erasing a person and an organization: nothing of them is left in any column, what the law asks for stays, and others stay whole.

import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { browse, consent } from '../../../test/oauth-server.ts'
import { type Ask, readTables } from '../../../test/tables.ts'
import { FakeXero } from '../../../test/vendors/xero.ts'
import { readConfig } from '../../config.ts'
import { revokeAll } from '../../integration/connections/tokens.ts'
import { introductions } from '../../introductions.ts'
import { bySystem } from '../../platform/base/origin.ts'
import { type Database, query } from '../../platform/db/database.ts'
import { openServices } from '../../platform/outside/services.ts'
import { eraseOrganization, erasePerson, findPerson } from './erase.ts'
import { leftTables, tables } from './tables.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
afterAll(() => server.close())

const askSchema: Ask = (sql, values = []) =>
	server.db.all(
		query<object, Record<string, unknown>>((knex) => knex.select('*').from(knex.raw(`(${sql}) as found`, values as never))),
		{},
	)

const allRows = (table: string) =>
	server.db.all(
		query<object, Record<string, unknown>>((knex) => knex(table).select('*')),
		{},
	)

/** Every table with rows of the organization, and all their text. */
async function textOf({ organizationId }: Tenant): Promise<Record<string, string>> {
	const found: Record<string, string> = {}
	for (const table of [...Object.keys(tables), 'organizations', 'erasures']) {
		const rows = (await allRows(table)).filter((row) => row.organizationId === organizationId)
		if (rows.length > 0) found[table] = JSON.stringify(rows)
	}
	return found
}

const doing = ({ organizationId }: Tenant, id: string | null = 'operator') => {
	const actor = { type: 'command', id } as const
	return { organizationId, origin: { ...bySystem(server.clock.now, 'remit organizations erase'), actor }, now: Date.now }
}

/** A tenant with a person in every kind of record that can name one. */
async function withPerson() {
	const tenant = await server.newTenant()
	const { ask } = tenant
	const email = 'Ada.Lovelace@client.example'
	const post = async (path: string, body: object) => (await ask('POST', path, { body })).body.id as string
	const companyId = await post('/api/companies', { name: 'Engines Ltd', billingContactName: 'Ada Lovelace', billingEmail: email })
	const contactId = await post('/api/contacts', { name: 'Ada Lovelace', email, phone: '+44 20 7946 0000', companyId })
	await post('/api/contacts', { name: 'Charles Babbage', email: 'charles@client.example', companyId })
	await tenant.newTimeEntry({ description: `Call ${email}` })
	const draft = await post('/api/invoices', { companyId, totalCents: 100, notes: `Ask ${email.toLowerCase()}.` })
	const issued = await post('/api/invoices', { companyId, totalCents: 200 })
	await ask('POST', `/api/invoices/${issued}/send`, { body: { to: email } })
	return { tenant, email, companyId, contactId, draft, issued }
}

it('every table and column of the schema is in the list, so that none is forgotten', async () => {
	if (server.db.dialect !== 'sqlite') return
	const found = await readTables('sqlite', askSchema)
	const names = found.map(({ name }) => name).filter((name) => !name.startsWith('company_search'))
	expect(names.sort()).toEqual([...Object.keys(tables), ...leftTables].sort())
	for (const [name, { key, text = [], json = [], plain = [] }] of Object.entries(tables)) {
		const types = await askSchema('select name, lower(type) as type from pragma_table_info(?)', [name])
		const columns = types.filter(({ type }) => /text|json|char/.test(String(type))).map((column) => String(column.name))
		const listed = new Set(['organizationId', ...key, ...text.map((column) => column.replace('?', '')), ...json, ...plain])
		expect({ name, missing: columns.filter((column) => !listed.has(column)) }).toEqual({ name, missing: [] })
	}
})

it('an organization’s rows are deleted before those that they refer to', async () => {
	if (server.db.dialect !== 'sqlite') return
	const order = Object.keys(tables)
	for (const table of order) {
		const references = await askSchema('select "table" as parent from pragma_foreign_key_list(?)', [table])
		const parents = references.map(({ parent }) => String(parent)).filter((parent) => parent !== 'organizations')
		const early = parents.filter((parent) => order.indexOf(parent) < order.indexOf(table))
		expect({ table, early }).toEqual({ table, early: [] })
	}
})

it('a person is gone from records, events and mails, by the e-mail address in any case or by a contact’s id', async () => {
	for (const by of ['email', 'id'] as const) {
		const { tenant, email, contactId, companyId, draft, issued } = await withPerson()
		const sent = (await tenant.ask('GET', `/api/invoices/${issued}`)).body.data
		const person = await findPerson(server.db, tenant.organizationId, by === 'email' ? email.toUpperCase() : contactId)
		const done = await erasePerson(server.db, person, doing(tenant))
		expect(done.rowCount).toBeGreaterThan(8)
		const { invoices, ...others } = await textOf(tenant)
		expect(JSON.stringify(others)).not.toMatch(/ada\.lovelace|Ada Lovelace|20 7946/i)
		expect(JSON.stringify(others)).toContain('Charles Babbage')
		expect((await tenant.ask('GET', `/api/contacts/${contactId}`)).body.data).toMatchObject({ email: null, phone: null })
		expect((await tenant.ask('GET', `/api/companies/${companyId}`)).body.data).toMatchObject({
			name: 'Engines Ltd',
			billingEmail: null,
		})
		expect((await tenant.ask('GET', `/api/invoices/${draft}`)).body.data.notes).toBe('Ask erased@erased.invalid.')
		expect((await tenant.ask('GET', `/api/invoices/${issued}`)).body.data).toEqual(sent)
		expect(sent.billTo.email).toBe(email)
		expect(invoices).toContain(email)
		expect((await tenant.ask('GET', '/webhooks/events?limit=100')).status).toBe(200)
		const again = await erasePerson(server.db, person, doing(tenant))
		expect(again.rowCount).toBe(0)
	}
})

it.each([
	['info@xn--mller-kva.example', 'info@müller.example'],
	['info@müller.example', 'info@XN--MLLER-KVA.example'],
])('a person with an international domain is found as %s and as %s', async (written, asked) => {
	const tenant = await server.newTenant()
	const { id } = (await tenant.ask('POST', '/api/contacts', { body: { name: 'Ada Lovelace', email: written } })).body
	await tenant.newTimeEntry({ description: 'Call info@müller.example or info@xn--mller-kva.example' })
	const person = await findPerson(server.db, tenant.organizationId, asked)
	expect(person.contactIds).toEqual([id])
	await erasePerson(server.db, person, doing(tenant))
	expect(JSON.stringify(await textOf(tenant))).not.toMatch(/ller|Lovelace/i)
})

it('leaves a tombstone that says what was done and when, and nothing of whom', async () => {
	const { tenant, email } = await withPerson()
	const person = await findPerson(server.db, tenant.organizationId, email)
	await erasePerson(server.db, person, doing(tenant))
	const [tombstone] = (await allRows('erasures')).filter(({ organizationId }) => organizationId === tenant.organizationId)
	expect(tombstone).toMatchObject({ kind: 'person', erasedBy: 'operator', startedAt: server.clock.now })
	expect(tombstone?.finishedAt).not.toBeNull()
	expect(JSON.stringify(tombstone)).not.toMatch(/ada/i)
})

/** Without what the server notes a while after the request: the bytes that were stored, and when a key was used. */
const settled = ({ stored_bytes: _, api_keys, ...others }: Record<string, string>): Record<string, string> => ({
	...others,
	...(api_keys && { api_keys: api_keys.replace(/"lastUsedAt":\d+/g, '"lastUsedAt":null') }),
})

it('an organization is gone but for a blank row and a tombstone, its key with it; others are untouched', async () => {
	const [{ tenant }, other] = [await withPerson(), await withPerson()]
	await tenant.ask('PATCH', '/api/organization', { body: { city: 'Berlin', taxId: 'DE1' } })
	const before = settled(await textOf(other.tenant))
	// The server takes the key for two seconds after it is gone.
	const writing = (async () => {
		while ((await tenant.ask('POST', '/api/companies', { body: { name: 'Late Engines' } })).status === 201) await setImmediate()
	})()
	const done = await eraseOrganization(server.db, doing(tenant))
	await writing
	expect(done).toMatchObject({ kind: 'organization' })
	const left = settled(await textOf(tenant))
	expect(Object.keys(left).sort()).toEqual(['audit_log', 'erasures', 'organizations'])
	expect(left.audit_log).not.toMatch(/ada.lovelace|engines|127\.0\.0\.1/i)
	expect(left.organizations).not.toMatch(/Test Ltd|Berlin|DE1/)
	expect(left.audit_log).toContain('remit organizations erase')
	expect(settled(await textOf(other.tenant))).toEqual(before)
	expect((await tenant.ask('GET', '/api/invoices')).status).toBe(401)
	const { meta } = (await other.tenant.ask('GET', '/api/companies?search=engines')).body
	expect(meta.total).toBe(1)
	// A container's user may have no name.
	expect(await eraseOrganization(server.db, doing(tenant, null))).toMatchObject({
		erasedBy: null,
		finishedAt: expect.any(Number),
	})
})

it('what people let Remit do at providers is revoked there when their organization is erased', async () => {
	const xero = await new FakeXero().start()
	const own = await startTestServer({ ...server.settings, ...xero.settings })
	xero.clock = () => own.clock.now
	const { remit } = own
	const { id } = await remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	const { url } = await remit.connections.authorize(id)
	await consent(await browse(url, `${own.url}/oauth/callback`))
	const services = await openServices(
		{ ...readConfig({ NODE_ENV: 'test', EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }), ...own.settings },
		{ baseUrl: () => '', ...introductions },
	)
	await eraseOrganization(own.db, doing(own), (rows) => revokeAll(services, rows))
	expect(xero.log.at(-1)).toMatchObject({
		path: '/connect/revocation',
		status: 200,
		body: expect.stringContaining('-refresh-'),
	})
	await services.close()
	await own.close()
	await xero.stop()
})

/** A tenant with contacts, and a way to post and to read its records. */
async function withContacts(...contacts: { name: string; email?: string; phone?: string }[]) {
	const tenant = await server.newTenant()
	const post = async (path: string, body: object) => (await tenant.ask('POST', path, { body })).body.id as string
	const read = async (path: string) => (await tenant.ask('GET', path)).body.data
	const ids: string[] = []
	for (const contact of contacts) ids.push(await post('/api/contacts', contact))
	const erase = async (key: string, db = server.db) =>
		erasePerson(db, await findPerson(db, tenant.organizationId, key), doing(tenant))
	return { tenant, post, read, ids, erase }
}

it('what only has the letters of a name or phone in it is left, in the audit log as well', async () => {
	const { tenant, post, read, erase } = await withContacts({ name: 'Ada', email: 'ada@client.example', phone: '5' })
	const companyId = await post('/api/companies', { name: 'Maple', billingCountry: 'Canada', phone: '555' })
	const company = await read(`/api/companies/${companyId}`)
	const history = await read(`/api/companies/${companyId}/history`)
	await erase('ada@client.example')
	expect(await read(`/api/companies/${companyId}`)).toEqual(company)
	expect(await read(`/api/companies/${companyId}/history`)).toEqual(history)
	const { audit_log: log } = await textOf(tenant)
	expect(log).toContain('Canada')
	expect(log).not.toContain('ada@client.example')
})

it('an address is found as a whole only', async () => {
	const others = [
		...['joann@big.example', 'x.ann@big.example', 'x+ann@big.example', 'ann@big.example.com', 'ann@big.example-corp.com'],
		...['zäann@big.example', "o'ann@big.example", 'ann@bigxexample'],
	]
	const { post, read, ids, erase } = await withContacts(
		...['joann@big.example', 'Xann@big.example'].map((email) => ({ name: 'Other', email })),
		{ name: 'Ann', email: 'ann@big.example' },
	)
	const hers = ['ANN@big.example', '<ann@big.example>', 'ann@big.example.', 'to:ann@big.example,', "'ann@big.example'"]
	const companyId = await post('/api/companies', {
		name: 'Big',
		notes: [...others, ...hers].join(' ; '),
		billingEmail: 'x=ann@big.example',
	})
	await erase('ann@big.example')
	expect(await read(`/api/contacts/${ids[0]}`)).toMatchObject({ name: 'Other', email: 'joann@big.example', version: 1 })
	expect(await read(`/api/contacts/${ids[1]}`)).toMatchObject({ name: 'Other', email: 'Xann@big.example', version: 1 })
	expect(await read(`/api/contacts/${ids[2]}`)).toMatchObject({ name: 'Erased', email: null })
	const blanked = hers.map((text) => text.replace(/ann@big.example/i, 'erased@erased.invalid'))
	const notes = [...others, ...blanked].join(' ; ')
	expect(await read(`/api/companies/${companyId}`)).toMatchObject({ notes, billingEmail: 'x=ann@big.example' })
	expect((await read(`/api/contacts/${ids[0]}/history`))[0].after).toMatchObject({ email: 'joann@big.example' })
	expect((await read(`/api/contacts/${ids[2]}/history`))[0]).toMatchObject({ after: null, erasedAt: expect.any(Number) })
})

it('namesakes, and who has the same phone, are left', async () => {
	const [email, phone] = ['ada@client.example', '+44 20 7946 0000']
	const { post, read, ids, erase } = await withContacts(
		{ name: 'Ada', email, phone },
		{ name: 'Ada', email: 'ada@other.example', phone },
	)
	const companyId = await post('/api/companies', { name: 'Ada', billingContactName: 'Ada', phone, notes: 'Ada' })
	const theirs = [`/api/contacts/${ids[1]}`, `/api/companies/${companyId}`].flatMap((path) => [path, `${path}/history`])
	const events = (id?: string) => `/webhooks/events?limit=100&resourceId=${id}`
	const readTheirs = async () => [await Promise.all(theirs.map(read)), await read(events(ids[1])), await read(events(companyId))]
	const before = await readTheirs()
	await erase(email)
	expect(await readTheirs()).toEqual(before)
	expect(await read(`/api/contacts/${ids[0]}`)).toMatchObject({ name: 'Erased', email: null, phone: null })
})

it('names are blanked in what has the person’s address or contact, but not the address of a company', async () => {
	const { tenant, post, read, ids, erase } = await withContacts({ name: 'Ada', email: 'ada@client.example' })
	const companyId = await post('/api/companies', {
		name: 'Engines',
		billingContactName: 'Ada',
		billingEmail: 'ADA@client.example',
	})
	const dealId = await tenant.newDeal({ name: 'Ada', contactId: ids[0] as string })
	const otherId = await tenant.newDeal({ name: 'Ada and others', contactId: ids[0] as string })
	await tenant.ask('PATCH', `/api/companies/${companyId}`, { body: { billingContactName: 'Charles', billingCity: 'Adana' } })
	await erase(ids[0] as string)
	expect(await read(`/api/companies/${companyId}`)).toMatchObject({
		...{ name: 'Engines', billingContactName: 'Charles', billingCity: 'Adana', billingEmail: null, version: 3 },
	})
	expect(await read(`/api/deals/${dealId}`)).toMatchObject({ name: 'Erased', contactId: ids[0] })
	expect(await read(`/api/deals/${otherId}`)).toMatchObject({ name: 'Ada and others', version: 1 })
	const { events } = await textOf(tenant)
	expect(events).not.toMatch(/"Ada\\?"|ada@/i)
	expect(events).toContain('Adana')
})

it('the history of a contact keeps no earlier name either', async () => {
	const { tenant, ids, erase } = await withContacts({ name: 'Ada Byron', email: 'byron@client.example' })
	await tenant.ask('PATCH', `/api/contacts/${ids[0]}`, { body: { name: 'Ada King', email: 'ada@client.example' } })
	await erase('ada@client.example')
	expect(JSON.stringify(await textOf(tenant))).not.toMatch(/byron|king|ada@/i)
})

it('a draft keeps its quantities, ids and states, and can be changed', async () => {
	const { tenant, post, read, erase } = await withContacts({ name: 'draft', email: 'ada@client.example', phone: '5' })
	const lineItems = [{ description: 'Ask ada@client.example', quantity: '5', unitPriceCents: 100 }]
	const id = await post('/api/invoices', { lineItems })
	await erase('ada@client.example')
	const [line] = (await read(`/api/invoices/${id}`)).lineItems
	expect(line).toMatchObject({ description: 'Ask erased@erased.invalid', quantity: '5' })
	expect(await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { notes: 'On' } })).toMatchObject({ status: 200 })
})

it('the kept PDF goes of an invoice that was sent and is a draft again, and stays of one that is issued', async () => {
	const { tenant, post, erase } = await withContacts({ name: 'Ada', email: 'ada@client.example' })
	const companyId = await post('/api/companies', { name: 'Engines Ltd', billingEmail: 'ada@client.example' })
	const [again, issued] = [
		await post('/api/invoices', { companyId, totalCents: 100 }),
		await post('/api/invoices', { companyId, totalCents: 200 }),
	]
	for (const id of [again, issued]) await tenant.ask('POST', `/api/invoices/${id}/send`, { body: { to: 'ada@client.example' } })
	await tenant.ask('PATCH', `/api/invoices/${again}`, { body: { status: 'draft' } })
	const kept = async () =>
		(await allRows('documents')).map(({ invoiceId }) => invoiceId).filter((id) => id === again || id === issued)
	expect((await kept()).toSorted()).toEqual([again, issued].toSorted())
	await erase('ada@client.example')
	expect(await kept()).toEqual([issued])
})

it('the kept PDF stays of a draft whose client may have it, or that is issued while the erasure runs', async () => {
	const { tenant, post, erase } = await withContacts({ name: 'Ada', email: 'ada@client.example' })
	const ids = await Promise.all([1, 2, 3, 4].map((totalCents) => post('/api/invoices', { totalCents })))
	const [sending, uncertain, issued, again] = ids as [string, string, string, string]
	for (const id of ids) {
		await tenant.ask('POST', `/api/invoices/${id}/send`, { body: { to: 'charles@client.example' } })
		await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { status: 'draft' } })
	}
	const setMail = query<{ resourceId: string; status: string }>((knex, { resourceId, status }) =>
		knex('mails').where({ resourceId }).update({ status }),
	)
	await server.db.transaction(async (tx) => {
		await tx.run(setMail, { resourceId: sending, status: 'sending' })
		await tx.run(setMail, { resourceId: uncertain, status: 'uncertain' })
	})
	const found: unknown[] = []
	const all: typeof server.db.all = async (...args) => {
		const rows = await server.db.all(...args)
		const documents = (rows as { id?: string; invoiceId?: string }[]).filter(({ id }) => id?.startsWith('doc_'))
		found.push(...documents.map(({ invoiceId }) => invoiceId))
		if (documents.length > 0) await tenant.ask('PATCH', `/api/invoices/${issued}`, { body: { status: 'sent' } })
		return rows
	}
	const racing = { ...server.db, all } as Database
	for (const name of ['get', 'run', 'transaction'] as const) racing[name] = server.db[name].bind(server.db) as never
	await erase('ada@client.example', racing)
	const kept = (await allRows('documents')).map(({ invoiceId }) => invoiceId as string).filter((id) => ids.includes(id))
	expect(kept.toSorted()).toEqual([sending, uncertain, issued].toSorted())
	expect(found.toSorted()).toEqual([issued, again].toSorted())
})

it('an invoice that is sent while the erasure runs is as it was sent', async () => {
	const { tenant, post, read, erase } = await withContacts({ name: 'Ada', email: 'ada@client.example' })
	const [sent, changed] = [
		await post('/api/invoices', { totalCents: 100, notes: 'ada@client.example' }),
		await post('/api/invoices', { totalCents: 100, notes: 'ada@client.example' }),
	]
	const all: typeof server.db.all = async (...args) => {
		const rows = await server.db.all(...args)
		if ((rows as { id?: string }[]).some(({ id }) => id === sent)) {
			await tenant.ask('POST', `/api/invoices/${sent}/send`, { body: { to: 'charles@client.example' } })
			await tenant.ask('PATCH', `/api/invoices/${changed}`, { body: { notes: 'Newer' } })
		}
		return rows
	}
	const racing = { ...server.db, all } as Database
	for (const name of ['get', 'run', 'transaction'] as const) racing[name] = server.db[name].bind(server.db) as never
	await erase('ada@client.example', racing)
	expect(await read(`/api/invoices/${sent}`)).toMatchObject({ status: 'sent', notes: 'ada@client.example' })
	expect((await read(`/api/invoices/${changed}`)).notes).toBe('Newer')
})

it('caches do not keep a record that was blanked', async () => {
	const { tenant, ids, erase } = await withContacts({ name: 'Ada', email: 'ada@client.example' })
	const path = `/api/contacts/${ids[0]}`
	const headers = { 'If-None-Match': (await tenant.ask('GET', path)).headers.get('etag') as string }
	expect((await tenant.ask('GET', path, { headers })).status).toBe(304)
	await erase('ada@client.example')
	expect(await tenant.ask('GET', path, { headers })).toMatchObject({
		status: 200,
		body: { data: { name: 'Erased', version: 2 } },
	})
})
