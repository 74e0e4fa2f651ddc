import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { recordsAt } from '../../../test/records.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

/** Makes a request; returns the events that it caused, as far as they differ. */
async function news(work: () => Promise<{ status: number }>) {
	const before = (await eventsOf(server, tenant)).length
	server.clock.now += 1000
	expect((await work()).status).toBe(200)
	return (await eventsOf(server, tenant))
		.slice(before)
		.map(({ type, resourceId, sequence, changes, data }) => ({ type, resourceId, sequence, changes, data }))
}

describe('a contact, a deal and a tax rate', () => {
	it.each([
		['contact', '/api/contacts', { name: 'Ada', phone: '1' }, { phone: null }, { phone: { from: '1', to: null } }],
		['deal', '/api/deals', { name: 'Shop' }, { hourlyRateCents: 5 }, { hourlyRateCents: { from: null, to: 5 } }],
		['tax_rate', '/api/tax-rates', { name: 'VAT', percent: '19' }, { label: 'Tax' }, { label: { from: 'VAT', to: 'Tax' } }],
	])(
		'tell that they were created, changed and deleted, each as a GET answers it then: %s',
		async (kind, path, body, change, changes) => {
			const records = recordsAt(path)
			const id = await records.create(tenant, body)
			const created = await records.read(tenant, id)
			const [first] = await eventsOf(server, tenant, id)
			expect(first).toMatchObject({ type: `${kind}.created`, sequence: 1, changes: null, actor: { type: 'api_key' } })
			expect(first?.data).toEqual(created)

			const told = await news(() => records.patch(tenant, id, change))
			const updated = await records.read(tenant, id)
			expect(told).toEqual([{ type: `${kind}.updated`, resourceId: id, sequence: 2, changes, data: updated }])
			for (const same of [{}, change, body.name === undefined ? {} : { name: body.name }])
				expect(await news(() => records.patch(tenant, id, same))).toEqual([])

			const [gone, ...others] = await news(() => records.remove(tenant, id))
			const now = server.clock.now
			const end = kind === 'tax_rate' ? { active: false } : { deletedAt: now }
			const data = { ...updated, ...end, updatedAt: now, version: 3 }
			expect(gone).toEqual({ type: `${kind}.deleted`, resourceId: id, sequence: 3, changes: null, data })
			expect(others).toEqual([])
		},
	)

	it('tell the stage of a deal besides its change, and nothing of a request that fails', async () => {
		const deals = recordsAt('/api/deals')
		const id = await deals.create(tenant, { name: 'Shop' })
		const changes = { name: { from: 'Shop', to: 'Shop 2' }, stage: { from: 'lead', to: 'won' } }
		const told = await news(() => deals.patch(tenant, id, { name: 'Shop 2', stage: 'won' }))
		expect(told).toMatchObject([
			{ type: 'deal.updated', sequence: 2, changes },
			{ type: 'deal.stage_changed', sequence: 3, changes },
		])
		const before = await eventsOf(server, tenant)
		for (const body of [{ stage: 'nonsense' }, { companyId: 'cmp_unknown' }, { name: '' }])
			expect((await deals.patch(tenant, id, body)).status).toBeGreaterThanOrEqual(400)
		expect(await eventsOf(server, tenant)).toEqual(before)
	})

	it('tell also which tax rate is no longer the default, and that a change archives one', async () => {
		const rates = recordsAt('/api/tax-rates')
		const [old, rate] = [
			await rates.create(tenant, { name: 'Old', percent: '7', isDefault: true }),
			await rates.create(tenant, { name: 'New', percent: '19' }),
		]
		const flip = (from: boolean) => ({ isDefault: { from, to: !from } })
		expect(await news(() => rates.patch(tenant, rate, { isDefault: true }))).toMatchObject([
			{ type: 'tax_rate.updated', resourceId: old, sequence: 2, changes: flip(true) },
			{ type: 'tax_rate.updated', resourceId: rate, sequence: 2, changes: flip(false) },
		])
		const changes = { ...flip(true), active: { from: true, to: false } }
		expect(await news(() => rates.patch(tenant, rate, { active: false }))).toMatchObject([
			{ type: 'tax_rate.updated', resourceId: rate, sequence: 3, changes },
			{ type: 'tax_rate.deleted', resourceId: rate, sequence: 4, data: { active: false, isDefault: false } },
		])
		expect(await news(() => rates.remove(tenant, rate))).toEqual([])
		expect(await news(() => rates.patch(tenant, rate, { active: true }))).toMatchObject([
			{ type: 'tax_rate.updated', sequence: 5 },
		])
	})
})
