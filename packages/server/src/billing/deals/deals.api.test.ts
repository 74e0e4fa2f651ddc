import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invalid, recordsAt, refused } from '../../../test/records.ts'

let server: TestServer
let tenant: Tenant
/** The organization's first pipeline and a second one. */
let sales: string
let retainers: string
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	;[sales = ''] = await pipelines.ids(tenant)
	server.clock.now++
	retainers = await newPipeline()
})
afterAll(() => server.close())

const deals = recordsAt('/api/deals')
const pipelines = recordsAt('/api/pipelines')
const companies = recordsAt('/api/companies')
const contacts = recordsAt('/api/contacts')

const stages = ['active', 'won', 'ended'].map((key) => ({ key, label: key, type: 'won' }))
const newPipeline = (of = tenant) => pipelines.create(of, { name: 'Retainers', stages })
const newCompany = (of = tenant) => companies.create(of, { name: 'Acme' })
const newContact = (of = tenant) => contacts.create(of, { name: 'Ada' })

const nothing = { companyId: null, contactId: null, valueCents: null, hourlyRateCents: null }

describe('a deal', () => {
	it('needs a name: it begins in the first stage of the oldest pipeline, in the organization’s currency', async () => {
		const id = await deals.create(tenant, { name: 'Shop' })
		const { now } = server.clock
		const given = { id, organizationId: tenant.organizationId, createdAt: now, updatedAt: now, deletedAt: null, version: 1 }
		const begun = { pipelineId: sales, stage: 'lead', autoAdvance: true, currency: 'USD' }
		expect(await deals.read(tenant, id)).toEqual({ ...given, name: 'Shop', ...nothing, ...begun })
	})

	it('takes every other field as well, changes each alone, and clears with null', async () => {
		const more = {
			valueCents: -5,
			hourlyRateCents: 0,
			currency: 'JPY',
			autoAdvance: false,
			pipelineId: retainers,
			stage: 'ended',
		}
		const body = { name: 'Shop', companyId: await newCompany(), contactId: await newContact(), ...more }
		const id = await deals.create(tenant, body)
		expect(await deals.read(tenant, id)).toMatchObject(body)
		expect(await deals.changed(tenant, id, { autoAdvance: true })).toMatchObject({ ...body, autoAdvance: true })
		expect(await deals.changed(tenant, id, nothing)).toMatchObject({ ...body, autoAdvance: true, ...nothing })
		for (const field of ['name', 'pipelineId', 'stage', 'autoAdvance', 'currency']) {
			expect(await deals.patch(tenant, id, { [field]: null })).toMatchObject(invalid(`/${field}`))
		}
	})

	it.each([
		[{}, '/name'],
		[{ currency: 'usd' }, '/currency'],
		[{ currency: 'XYZ' }, '/currency'],
		[{ hourlyRateCents: -1 }, '/hourlyRateCents'],
		[{ hourlyRateCents: 1.5 }, '/hourlyRateCents'],
		[{ valueCents: 1_000_000_000_000 }, '/valueCents'],
		[{ valueCents: '5' }, '/valueCents'],
		[{ stage: 'Won' }, '/stage'],
		[{ autoAdvance: 'yes' }, '/autoAdvance'],
	])('is refused as %j', async (body, pointer) => {
		expect(await deals.post(tenant, pointer === '/name' ? body : { name: 'a', ...body })).toMatchObject(invalid(pointer))
	})

	it('holds the largest amounts', async () => {
		const body = { valueCents: 999_999_999_999, hourlyRateCents: 999_999_999_999 }
		expect(await deals.read(tenant, await deals.create(tenant, { name: 'Shop', ...body }))).toMatchObject(body)
	})
})

describe('what a deal points to', () => {
	it.each<[string, string, (of: Tenant) => Promise<string>]>([
		['companyId', 'unknown_company', newCompany],
		['contactId', 'unknown_contact', newContact],
		['pipelineId', 'unknown_pipeline', newPipeline],
	])('must be of the organization: %s', async (field, code, create) => {
		const id = await deals.create(tenant, { name: 'Shop' })
		for (const other of [await create(await server.newTenant()), 'x_unknown']) {
			expect(await deals.post(tenant, { name: 'New', [field]: other })).toMatchObject(refused(422, code, `/${field}`))
			expect(await deals.patch(tenant, id, { [field]: other })).toMatchObject(refused(422, code, `/${field}`))
		}
		expect(await deals.ids(tenant)).toEqual([id])
		expect((await deals.read(tenant, id)).version).toBe(1)
	})

	it('may be deleted: the deal keeps it, but cannot come back to it', async () => {
		const links = { companyId: await newCompany(), contactId: await newContact() }
		const id = await deals.create(tenant, { name: 'Shop', ...links })
		await companies.remove(tenant, links.companyId)
		await contacts.remove(tenant, links.contactId)
		expect(await deals.changed(tenant, id, { ...links, name: 'Shop 2' })).toMatchObject({ ...links, name: 'Shop 2' })
		await deals.changed(tenant, id, { companyId: null, contactId: null })
		for (const [field, value] of Object.entries(links)) {
			expect(await deals.patch(tenant, id, { [field]: value })).toMatchObject({ status: 422 })
		}
	})
})

describe('the stage of a deal', () => {
	it('is one of its pipeline’s, in any order', async () => {
		const id = await deals.create(tenant, { name: 'Shop', stage: 'paid' })
		for (const stage of ['lost', 'lead', 'won']) expect(await deals.changed(tenant, id, { stage })).toMatchObject({ stage })
		const unknown = refused(422, 'unknown_stage', '/stage')
		for (const stage of ['ended', 'nonsense']) {
			expect(await deals.patch(tenant, id, { stage, name: 'Other' })).toMatchObject(unknown)
			expect(await deals.post(tenant, { name: 'New', stage })).toMatchObject(unknown)
		}
		expect(await deals.post(tenant, { name: 'New', pipelineId: retainers, stage: 'lead' })).toMatchObject(unknown)
		expect(await deals.read(tenant, id)).toMatchObject({ name: 'Shop', stage: 'won', version: 4 })
	})

	it('is the first of the pipeline that the deal moves to, unless the request names one, also when both have the same key', async () => {
		const id = await deals.create(tenant, { name: 'Shop', stage: 'won' })
		expect(await deals.changed(tenant, id, { pipelineId: sales })).toMatchObject({ pipelineId: sales, stage: 'won' })
		const moved = await deals.changed(tenant, id, { pipelineId: retainers })
		expect(moved).toMatchObject({ pipelineId: retainers, stage: 'active' })
		const back = await deals.changed(tenant, id, { pipelineId: sales, stage: 'won' })
		expect(back).toMatchObject({ pipelineId: sales, stage: 'won' })
		expect(await deals.patch(tenant, id, { pipelineId: retainers, stage: 'lead' })).toMatchObject({ status: 422 })
	})

	it('needs a pipeline: an organization without one cannot have deals until it creates one', async () => {
		for (const id of [sales, retainers]) await pipelines.remove(tenant, id)
		expect(await deals.post(tenant, { name: 'Shop' })).toMatchObject(refused(422, 'unknown_pipeline', '/pipelineId'))
		const pipelineId = await newPipeline()
		const id = await deals.create(tenant, { name: 'Shop' })
		expect(await deals.read(tenant, id)).toMatchObject({ pipelineId, stage: 'active' })
	})
})

describe('the list of deals', () => {
	it('can be asked for a company, a contact, a pipeline, a stage, and any of them together', async () => {
		const [companyId, contactId] = [await newCompany(), await newContact()]
		const bodies = [
			{},
			{ companyId },
			{ contactId },
			{ companyId, contactId, stage: 'won' },
			{ companyId, pipelineId: retainers, stage: 'won' },
		]
		const ids: string[] = []
		for (const body of bodies) ids.push(await deals.create(tenant, { name: 'Shop', ...body }))
		const found = async (filters: Record<string, string>) =>
			(await deals.ids(tenant, filters)).map((id) => ids.indexOf(id)).toSorted()
		expect(await found({ companyId })).toEqual([1, 3, 4])
		expect(await found({ contactId })).toEqual([2, 3])
		expect(await found({ pipelineId: sales })).toEqual([0, 1, 2, 3])
		expect(await found({ stage: 'won' })).toEqual([3, 4])
		expect(await found({ stage: 'won', pipelineId: retainers })).toEqual([4])
		expect(await found({ companyId, contactId, pipelineId: sales, stage: 'won' })).toEqual([3])
		expect(await found({ companyId, contactId, stage: 'lead' })).toEqual([])
		for (const filter of ['companyId', 'contactId', 'pipelineId', 'stage']) {
			for (const value of ['', 'unknown']) expect(await found({ [filter]: value })).toEqual([])
		}
	})
})

describe('a deal that was deleted', () => {
	it('never shows, and its invoices and time entries stay', async () => {
		const [id, other, companyId] = [await deals.create(tenant, { name: 'A' }), await deals.create(tenant, { name: 'B' }), null]
		const invoice = (await tenant.ask('POST', '/api/invoices', { body: { dealId: id, companyId } })).body.id
		const entry = await tenant.newTimeEntry({ dealId: id, billable: false })
		await deals.remove(tenant, id)
		expect([await deals.ids(tenant), await deals.ids(tenant, { pipelineId: sales })]).toEqual([[other], [other]])
		expect((await tenant.ask('GET', `/api/invoices?dealId=${id}`)).body.data).toHaveLength(1)
		const paid = await tenant.ask('PATCH', `/api/invoices/${invoice}`, { body: { dealId: id, status: 'paid' } })
		expect(paid.body).toEqual({ ok: true })
		expect(await recordsAt('/api/time-entries').ids(tenant, { dealId: id })).toEqual([entry])
		const refusal = refused(422, 'unknown_deal', '/dealId')
		expect(await tenant.ask('POST', '/api/invoices', { body: { dealId: id } })).toMatchObject(refusal)
		const fromTime = { body: { dealId: id, timeEntryIds: [entry] } }
		expect(await tenant.ask('POST', '/api/invoices/from-time-entries', fromTime)).toMatchObject(refusal)
	})
})

describe('the events of a deal', () => {
	it('tell of every new stage, besides other changes, and who asked for it', async () => {
		const id = await deals.create(tenant, { name: 'Shop' })
		const { id: actor, key } = await tenant.newKey(['deals:write'])
		const patch = (body: object, requestId: string) =>
			tenant.ask('PATCH', deals.at(id), { body, key, headers: { 'x-request-id': requestId } })
		await patch({ stage: 'won', name: 'Shop 2' }, 'req-first')
		const first = await deals.read(tenant, id)
		for (const body of [{}, { name: 'Shop 3' }, { stage: 'won' }, { stage: 'nonsense' }, { pipelineId: sales }]) {
			await patch(body, 'req-nothing')
		}
		server.clock.now++
		await patch({ pipelineId: retainers, stage: 'won' }, 'req-second')
		const told = { type: 'deal.stage_changed', resourceId: id, actor: { type: 'api_key', id: actor } }
		const names = { from: 'Shop', to: 'Shop 2' }
		const events = await eventsOf(server, tenant)
		const milestone = 'deal.stage_changed'
		expect(events.map(({ type }) => type)).toEqual([
			'deal.created',
			...['deal.updated', milestone],
			'deal.updated',
			...['deal.updated', milestone],
		])
		expect(events.filter(({ type }) => type === milestone)).toEqual([
			{
				...told,
				sequence: 3,
				timestamp: server.clock.now - 1,
				requestId: 'req-first',
				changes: { name: names, stage: { from: 'lead', to: 'won' } },
				data: first,
			},
			{
				...told,
				sequence: 6,
				timestamp: server.clock.now,
				requestId: 'req-second',
				changes: { pipelineId: { from: sales, to: retainers } },
				data: await deals.read(tenant, id),
			},
		])
	})

	it('have no gap when many change its stage at the same time', async () => {
		const id = await deals.create(tenant, { name: 'Shop' })
		const stage = (index: number) => (index % 2 ? 'won' : 'paid')
		await Promise.all(Array.from({ length: 20 }, (_, index) => deals.patch(tenant, id, { stage: stage(index) })))
		const all = await eventsOf(server, tenant)
		expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1))
		const events = all.filter(({ type }) => type === 'deal.stage_changed')
		const way = events.map(({ changes }) => changes?.stage)
		expect(way.map((step) => step?.from)).toEqual(['lead', ...way.slice(0, -1).map((step) => step?.to)])
		expect(await deals.read(tenant, id)).toMatchObject({ version: events.length + 1, stage: way.at(-1)?.to })
	})
})

it('A deal is kept while billable time of it is on no invoice', async () => {
	const dealId = await tenant.newDeal({ hourlyRateCents: 100 })
	const [hour, other] = [await tenant.newTimeEntry({ dealId }), await tenant.newTimeEntry({ dealId, billable: false })]
	const remove = () => tenant.ask('DELETE', `/api/deals/${dealId}`)
	expect(await remove()).toMatchObject({ status: 409, body: { code: 'deal_has_time' } })
	expect(await deals.read(tenant, dealId)).toMatchObject({ version: 1 })
	await tenant.remit.invoices.createFromTimeEntries({ dealId, timeEntryIds: [hour] })
	expect(await remove()).toMatchObject({ status: 200 })
	expect(await tenant.remit.timeEntries.get(other)).toMatchObject({ dealId })
})
