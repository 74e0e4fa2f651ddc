import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invalid, recordsAt, refused } from '../../../test/records.ts'
import type { TaxRateCreate } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const rates = recordsAt('/api/tax-rates')
const create = (rate: Partial<TaxRateCreate> = {}, of = tenant) => rates.create(of, { name: 'VAT', percent: '19', ...rate })
const invoice = (taxRateId: string) =>
	tenant.ask('POST', '/api/invoices', { body: { lineItems: [{ unitPriceCents: 1000, taxRateId }] } })

/** The ids of all default rates. */
async function defaults(of = tenant): Promise<string[]> {
	const { data } = (await of.ask('GET', '/api/tax-rates?limit=100')).body
	return data.filter(({ isDefault }: { isDefault: boolean }) => isDefault).map(({ id }: { id: string }) => id)
}

describe('a tax rate', () => {
	it('needs a name and a percentage, and is called the same on invoices', async () => {
		const id = await create()
		const { now } = server.clock
		expect(await rates.read(tenant, id)).toEqual({
			id,
			organizationId: tenant.organizationId,
			name: 'VAT',
			label: 'VAT',
			percent: '19',
			inclusive: false,
			isDefault: false,
			active: true,
			createdAt: now,
			updatedAt: now,
			version: 1,
		})
	})

	it('takes every other field as well, and changes each alone', async () => {
		const body = { name: 'Germany', label: 'MwSt.', percent: '7.5', inclusive: true, isDefault: true }
		const id = await create(body)
		expect(await rates.read(tenant, id)).toMatchObject(body)
		expect(await rates.changed(tenant, id, { name: 'DE' })).toMatchObject({ ...body, name: 'DE' })
		expect(await rates.changed(tenant, id, { percent: 8 })).toMatchObject({ ...body, name: 'DE', percent: '8' })
		expect(await rates.changed(tenant, id, { inclusive: false })).toMatchObject({
			percent: '8',
			inclusive: false,
			isDefault: true,
		})
	})

	it.each<[string | number, string]>([
		['19', '19'],
		['19.0', '19'],
		['07', '7'],
		['9.9750', '9.975'],
		['0.0001', '0.0001'],
		['0', '0'],
		['100.0000', '100'],
		[19, '19'],
		[8.1, '8.1'],
		[9.975, '9.975'],
		[0.0001, '0.0001'],
		[100, '100'],
	])('has one spelling of its percentage: %j is %j', async (percent, spelled) => {
		const id = await create({ percent })
		expect((await rates.read(tenant, id)).percent).toBe(spelled)
		const other = await create({ percent: '55' })
		expect((await rates.changed(tenant, other, { percent })).percent).toBe(spelled)
	})

	it.each(['', '19%', '19,5', '-1', '100.1', '101', '9.97501', '1e1', ' 19', '.5', -1, 100.5, 9.97501, 1e-7, null])(
		'refuses the percentage %j',
		async (percent) => {
			expect(await rates.post(tenant, { name: 'VAT', percent })).toMatchObject(invalid('/percent'))
			expect(await rates.patch(tenant, await create(), { percent })).toMatchObject(invalid('/percent'))
		},
	)

	it.each([
		[{ percent: '19' }, '/name'],
		[{ name: ' ', percent: '19' }, '/name'],
		[{ name: 'VAT' }, '/percent'],
		[{ name: 'VAT', percent: '19', label: '' }, '/label'],
		[{ name: 'VAT', percent: '19', inclusive: 'no' }, '/inclusive'],
		[{ name: 'VAT', percent: '19', active: false }, '/active'],
	])('is refused as %j', async (body, pointer) => {
		expect(await rates.post(tenant, body)).toMatchObject(invalid(pointer))
	})
})

describe('a tax rate that an invoice has had', () => {
	it('keeps its percentage and inclusion, also when the invoice is gone; the rest changes, and the invoice does not', async () => {
		const id = await create()
		expect(await rates.changed(tenant, id, { percent: '20', inclusive: true })).toMatchObject({ percent: '20', inclusive: true })
		const { body } = await invoice(id)
		for (const [field, value] of [
			['percent', '19'],
			['inclusive', false],
		] as const) {
			const written = { name: 'Other', [field]: value }
			expect(await rates.patch(tenant, id, written)).toMatchObject(refused(409, 'tax_rate_in_use', `/${field}`))
		}
		expect(await rates.read(tenant, id)).toMatchObject({ name: 'VAT', version: 2 })
		const same = { percent: '20.00', inclusive: true, name: 'Old', label: 'Old' }
		expect(await rates.changed(tenant, id, same)).toMatchObject({ ...same, percent: '20', version: 3 })
		const [line] = (await tenant.ask('GET', `/api/invoices/${body.id}`)).body.data.lineItems
		expect(line).toMatchObject({ taxes: [{ label: 'VAT', percent: '20', inclusive: true }] })
		await tenant.ask('DELETE', `/api/invoices/${body.id}`)
		expect(await rates.patch(tenant, id, { percent: '21' })).toMatchObject({ status: 409 })
	})
})

describe('archiving a tax rate', () => {
	it('keeps it readable and off new invoices until it is brought back; repeating it changes nothing', async () => {
		const id = await create()
		expect(await rates.remove(tenant, id)).toMatchObject({ status: 200, body: { ok: true } })
		const archived = await rates.read(tenant, id)
		expect(archived).toMatchObject({ active: false, version: 2 })
		expect(await rates.remove(tenant, id)).toMatchObject({ status: 200, body: { ok: true } })
		expect(await rates.read(tenant, id)).toEqual(archived)
		expect(await rates.ids(tenant)).toEqual([id])
		expect(await invoice(id)).toMatchObject(refused(422, 'tax_rate_archived', '/lineItems/0/taxRateId'))
		expect(await rates.changed(tenant, id, { active: true })).toMatchObject({ active: true, version: 3 })
		expect((await invoice(id)).status).toBe(201)
	})

	it.each(['DELETE', 'PATCH'])('by %s takes the default from it, and bringing it back does not give it back', async (method) => {
		const id = await create({ isDefault: true })
		await tenant.ask(method, rates.at(id), { body: method === 'PATCH' ? { active: false } : undefined })
		expect(await rates.read(tenant, id)).toMatchObject({ active: false, isDefault: false })
		expect(await rates.changed(tenant, id, { active: true })).toMatchObject({ active: true, isDefault: false })
		expect(await rates.changed(tenant, id, { isDefault: true })).toMatchObject({ isDefault: true })
	})

	it('keeps it from becoming the default, and leaves the default as it is', async () => {
		const [current, archived] = [await create({ isDefault: true }), await create()]
		await rates.remove(tenant, archived)
		expect(await rates.patch(tenant, archived, { isDefault: true })).toMatchObject(
			refused(422, 'tax_rate_archived', '/isDefault'),
		)
		expect(await defaults()).toEqual([current])
		expect(await rates.changed(tenant, archived, { isDefault: true, active: true })).toMatchObject({
			isDefault: true,
			active: true,
		})
		expect(await defaults()).toEqual([archived])
	})
})

describe('the default tax rate', () => {
	it('is one at most: a rate that becomes it takes it from the other, which is a change of that rate, too', async () => {
		const first = await create({ isDefault: true })
		server.clock.now++
		const second = await create({ isDefault: true })
		const { now } = server.clock
		expect(await rates.read(tenant, first)).toMatchObject({ isDefault: false, version: 2, updatedAt: now })
		expect(await rates.changed(tenant, first, { isDefault: true })).toMatchObject({ version: 3 })
		expect(await rates.read(tenant, second)).toMatchObject({ isDefault: false, version: 2 })
		expect(await rates.changed(tenant, first, { isDefault: false })).toMatchObject({ isDefault: false })
		expect(await defaults()).toEqual([])
	})

	it('stays when the default itself, or another rate, is changed otherwise', async () => {
		const [id, other] = [await create({ isDefault: true }), await create()]
		await rates.changed(tenant, id, { isDefault: true, name: 'Same' })
		await rates.changed(tenant, other, { isDefault: false, name: 'Other' })
		expect(await defaults()).toEqual([id])
		expect((await rates.read(tenant, id)).version).toBe(2)
	})

	it('is each organization’s own', async () => {
		const other = await server.newTenant()
		const [id, theirs] = [await create({ isDefault: true }), await create({ isDefault: true }, other)]
		expect([await defaults(), await defaults(other)]).toEqual([[id], [theirs]])
	})

	it('is one at most when twenty are created, and when twenty become it, at the same time', async () => {
		const ids = await Promise.all(Array.from({ length: 20 }, () => create({ isDefault: true })))
		expect(await defaults()).toHaveLength(1)
		const answers = await Promise.all(ids.map((id) => rates.patch(tenant, id, { isDefault: true })))
		expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
		expect(await defaults()).toHaveLength(1)
	})
})
