import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import type { MappingField, MappingMatch, PreviewedRecord } from '../../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

/** What is known of a record that was given. */
const pasted = { errors: [], externalId: null, source: null, current: null }
const source = { system: 'http_json', object: 'things' }
const byDomain: MappingMatch = { keys: ['domain'], onMultiple: 'conflict' }
const companyFields: MappingField[] = [
	{ target: 'name', source: 'name', required: true },
	{ target: 'domain', source: 'website', transforms: [{ name: 'domainFromUrl' }], onError: 'skip_field' },
	{ target: 'billingEmail', source: 'contacts[role=billing].email' },
	{ target: 'vatId', source: 'vat' },
]
const invoiceFields: MappingField[] = [
	{ target: 'invoiceNumber', source: 'number' },
	{ target: 'currency', source: 'currency' },
	{ target: 'totalCents', source: 'total', transforms: [{ name: 'toCents', currencyPath: 'currency' }] },
	{ target: 'dueDate', source: 'due', transforms: [{ name: 'parseDate', format: 'xero' }] },
	{ target: 'companyId', source: 'company' },
]

const newMapping = async (object: 'company' | 'invoice', fields: MappingField[], match: MappingMatch | null) =>
	(await tenant.remit.mappings.create({ name: 'Things', source, target: { system: 'internal', object }, fields, match })).id
/** The fates of records by a new mapping to companies. */
const previewed = async (records: object[], match: MappingMatch | null = byDomain): Promise<PreviewedRecord[]> => {
	const id = await newMapping('company', companyFields, match)
	return (await tenant.ask('POST', `/mappings/${id}/preview`, { body: { records } })).body.data.records
}
const acme = { name: 'Acme', domain: 'acme.example', billingEmail: 'b@acme.example' }
const asThing = { name: 'Acme', website: 'https://www.acme.example/', contacts: [{ role: 'billing', email: 'b@acme.example' }] }

describe('a preview of companies', () => {
	it('says what is created, changed with what changes, and as it is already, with the SDK', async () => {
		const { id: recordId } = await tenant.remit.companies.create(acme)
		const id = await newMapping('company', companyFields, byDomain)
		const { validation, records } = await tenant.remit.mappings.preview(id, {
			records: [{ name: 'New' }, asThing, { ...asThing, name: 'Acme GmbH', vat: 'de 811 907 980' }],
		})
		expect(validation).toEqual({ valid: true, issues: [] })
		expect(records).toEqual([
			{ ...pasted, output: { name: 'New' }, action: 'create', recordId: null, changes: {} },
			{ ...pasted, output: acme, action: 'unchanged', recordId, changes: {} },
			{
				...pasted,
				output: { ...acme, name: 'Acme GmbH', vatId: 'de 811 907 980' },
				action: 'update',
				recordId,
				changes: { name: { from: 'Acme', to: 'Acme GmbH' }, vatId: { from: null, to: 'DE811907980' } },
			},
		])
	})

	it('names the fields that cannot be made, and those that a company does not take', async () => {
		const records = await previewed([
			{ website: 'acme.example' },
			{ name: 'Acme', website: 'nowhere' },
			{ name: 'Acme', contacts: [{ role: 'billing', email: 'nobody' }] },
			{ name: 'Acme', vat: 'DE1' },
			{ name: { first: 'A' } },
			{ name: null },
		])
		expect(records.map(({ action, errors }) => [action, ...errors.map(({ field, code }) => `${field} ${code}`)])).toEqual([
			['fail', 'name required'],
			['create', 'domain no_domain'],
			['fail', 'billingEmail format'],
			['fail', 'vatId invalid_vat_id'],
			['fail', 'name type'],
			['fail', 'name required'],
		])
		expect(records[2]?.errors[0]?.reason).toBe('must be an e-mail address')
		expect(records[0]?.output).toBeNull()
	})

	it('that match several companies is a conflict, is skipped, or takes the oldest, as the mapping says', async () => {
		const { id: oldest } = await tenant.remit.companies.create(acme)
		server.clock.now += 1_000
		await tenant.remit.companies.create({ ...acme, name: 'Acme 2' })
		const by = async (onMultiple: MappingMatch['onMultiple']) => (await previewed([asThing], { ...byDomain, onMultiple }))[0]
		expect(await by('conflict')).toMatchObject({ action: 'conflict', recordId: null })
		expect(await by('skip')).toMatchObject({ action: 'skip', recordId: null })
		expect(await by('first')).toMatchObject({ action: 'unchanged', recordId: oldest })
	})

	it('matches by all keys at once, by name or VAT id too, and never a deleted company or another organization’s', async () => {
		const { id: recordId } = await tenant.remit.companies.create({ ...acme, vatId: 'DE811907980' })
		const by = async (keys: string[], thing: object) =>
			(await previewed([{ ...asThing, ...thing }], { keys, onMultiple: 'conflict' }))[0]
		expect(await by(['name', 'domain'], {})).toMatchObject({ recordId })
		expect(await by(['name', 'domain'], { name: 'Acme 2' })).toMatchObject({ action: 'create' })
		expect(await by(['vatId'], { vat: 'DE 811 907 980' })).toMatchObject({ recordId })
		expect(await by(['billingEmail'], {})).toMatchObject({ recordId })
		expect((await previewed([asThing], null))[0]).toMatchObject({ action: 'create' })
		await tenant.remit.companies.delete(recordId)
		expect(await by(['domain'], {})).toMatchObject({ action: 'create' })
		tenant = await server.newTenant()
		expect(await by(['domain'], {})).toMatchObject({ action: 'create' })
	})

	it('tries fields before they are saved, with the issues that they would have', async () => {
		const id = await newMapping('company', companyFields, null)
		const preview = (fields: object[]) =>
			tenant.ask('POST', `/mappings/${id}/preview`, { body: { records: [{ n: 'Acme' }], fields } })
		const { data } = (await preview([{ target: 'nickname', source: 'n' }])).body
		expect(data.validation.issues.map(({ code }: { code: string }) => code)).toEqual(['unknown_field', 'required_field_missing'])
		expect(data.records).toMatchObject([{ output: { nickname: 'Acme' }, action: 'fail', errors: [{ code: 'unknown_field' }] }])
		const refused = await preview([{ target: 'name', source: 'a[' }])
		expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/fields/0/source' }] } })
		expect((await tenant.remit.mappings.get(id)).fields).toEqual(companyFields)
	})

	it('writes nothing: no record, no event, no entry in the audit log', async () => {
		await tenant.remit.companies.create(acme)
		const id = await newMapping('company', companyFields, byDomain)
		const before = [await tenant.remit.companies.list({}), await eventsOf(server, tenant)]
		const { key } = await tenant.newKey(['write'])
		const entries = (await tenant.ask('GET', '/api/audit')).body.data.length
		await tenant.ask('POST', `/mappings/${id}/preview`, { key, body: { records: [asThing, { name: 'New' }] } })
		expect([await tenant.remit.companies.list({}), await eventsOf(server, tenant)]).toEqual(before)
		expect((await tenant.ask('GET', '/api/audit')).body.data).toHaveLength(entries)
	})

	it('takes 25 records and no more, and none that is no object', async () => {
		const id = await newMapping('company', companyFields, null)
		const status = async (records: unknown[]) =>
			(await tenant.ask('POST', `/mappings/${id}/preview`, { body: { records } })).status
		const one = { name: 'Acme' }
		expect(await status(Array(25).fill(one))).toBe(200)
		for (const records of [[], Array(26).fill(one), ['x'], [null]]) expect(await status(records)).toBe(400)
	})
})

describe('a preview of invoices', () => {
	const thing = { number: 'X-1', currency: 'EUR', total: '12.34', due: '/Date(1774915200000+0000)/' }

	it('computes what would be created or changed, in minor units and milliseconds', async () => {
		const id = await newMapping('invoice', invoiceFields, { keys: ['invoiceNumber'], onMultiple: 'conflict' })
		const { id: recordId } = await tenant.remit.invoices.create({ invoiceNumber: 'X-1', currency: 'EUR', totalCents: 1_000 })
		const { records } = await tenant.remit.mappings.preview(id, { records: [thing, { ...thing, number: 'X-2' }] })
		expect(records).toMatchObject([
			{ action: 'update', recordId, output: { totalCents: 1_234, dueDate: 1_774_915_200_000 } },
			{ action: 'create', recordId: null, changes: {} },
		])
		expect(records[0]?.changes).toMatchObject({
			totalCents: { from: 1_000, to: 1_234 },
			amountDueCents: { from: 1_000, to: 1_234 },
			dueDate: { from: null, to: 1_774_915_200_000 },
		})
	})

	it('fails with the error that the invoice would have', async () => {
		const id = await newMapping('invoice', invoiceFields, null)
		const records = [
			{ ...thing, company: 'cmp_unknown' },
			{ ...thing, currency: 'Euros' },
			{ ...thing, currency: 'XAU', total: '12' },
		]
		const { records: seen } = await tenant.remit.mappings.preview(id, { records })
		expect(seen.map(({ action, errors }) => [action, ...errors.map(({ field, code }) => `${field} ${code}`)])).toEqual([
			['fail', 'companyId unknown_company'],
			['fail', 'totalCents unknown_currency'],
			['fail', 'currency format'],
		])
	})
})

it('A preview for an external system has outputs, and says of nothing what would happen there', async () => {
	const { id } = await tenant.remit.mappings.create({
		name: 'To Xero',
		source: { system: 'internal', object: 'invoice' },
		target: { system: 'xero', object: 'invoices' },
		fields: [
			{ target: 'Contact.Name', source: 'billTo.name', default: 'Unknown' },
			{ target: 'LineItems[0].UnitAmount', source: 'totalCents', transforms: [{ name: 'fromCents', currencyPath: 'currency' }] },
		],
	})
	const { records } = await tenant.remit.mappings.preview(id, { records: [{ totalCents: 1_234, currency: 'KWD', billTo: null }] })
	const output = { Contact: { Name: 'Unknown' }, LineItems: [{ UnitAmount: '1.234' }] }
	expect(records).toEqual([{ ...pasted, output, action: null, recordId: null, changes: {} }])
})
