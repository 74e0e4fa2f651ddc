import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invalid, recordsAt, refused } from '../../../test/records.ts'
import type { Stage } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const pipelines = recordsAt('/api/pipelines')
const deals = recordsAt('/api/deals')

const stage = (key: string, advanceOnInvoicePaidTo?: string | null): Stage => ({
	key,
	label: key.toUpperCase(),
	type: 'open',
	...(advanceOnInvoicePaidTo !== undefined && { advanceOnInvoicePaidTo }),
})
const [a, b, c] = [stage('a'), stage('b'), stage('c')]
const create = (...stages: Stage[]) => pipelines.create(tenant, { name: 'Retainers', stages })

describe('a new organization', () => {
	it('has a pipeline, from lead to paid, and lost; what is won moves on to paid', async () => {
		const { data, meta } = (await tenant.ask('GET', '/api/pipelines')).body
		expect(meta.total).toBe(1)
		const { stages } = data[0]
		expect(stages.map(({ key }: Stage) => key).join(' ')).toBe('lead qualified proposal won in_progress invoiced paid lost')
		expect(stages.map(({ type }: Stage) => type).join(' ')).toBe('open open open won won won won lost')
		const moving = stages.filter((one: Stage) => one.advanceOnInvoicePaidTo === 'paid')
		expect(moving.map(({ key }: Stage) => key)).toEqual(['won', 'in_progress', 'invoiced'])
		expect(stages.filter((one: Stage) => one.advanceOnInvoicePaidTo !== undefined)).toHaveLength(3)
	})
})

describe('the stages of a pipeline', () => {
	it('are kept as they were written, in their order', async () => {
		const stages = [stage('z-1', 'a_2'), stage('m', null), { ...stage('a_2'), label: 'Größe', type: 'lost' as const }]
		const id = await create(...stages)
		expect(await pipelines.read(tenant, id)).toMatchObject({ name: 'Retainers', stages })
		expect((await tenant.ask('GET', '/api/pipelines')).body.data).toContainEqual(expect.objectContaining({ id, stages }))
	})

	it('are replaced by an array, and stay when it is absent', async () => {
		const id = await create(a, b)
		expect(await pipelines.changed(tenant, id, { name: 'Other' })).toMatchObject({ name: 'Other', stages: [a, b] })
		expect(await pipelines.changed(tenant, id, { stages: [c, a] })).toMatchObject({ name: 'Other', stages: [c, a] })
	})

	it.each<[string, object[], string]>([
		['none', [], '/stages'],
		['51', Array.from({ length: 51 }, (_, index) => stage(`s${index}`)), '/stages'],
		['a key with a capital', [stage('A')], '/stages/0/key'],
		['an empty key', [a, { ...b, key: '' }], '/stages/1/key'],
		['a label of white space', [{ ...a, label: ' ' }], '/stages/0/label'],
		['an unknown type', [{ ...a, type: 'done' }], '/stages/0/type'],
		['a field that no stage has', [{ ...a, color: 'red' }], '/stages/0/color'],
	])('are invalid: %s', async (_, stages, pointer) => {
		const id = await create(a)
		expect(await pipelines.post(tenant, { name: 'P', stages })).toMatchObject(invalid(pointer))
		expect(await pipelines.patch(tenant, id, { stages })).toMatchObject(invalid(pointer))
	})

	it.each<[string, Stage[], string]>([
		['a key twice', [a, b, a], '/stages/2/key'],
		['moving on to no stage', [stage('a', 'x'), b], '/stages/0/advanceOnInvoicePaidTo'],
		['moving on to an earlier stage', [a, stage('b', 'a')], '/stages/1/advanceOnInvoicePaidTo'],
		['moving on to itself', [a, stage('b', 'b')], '/stages/1/advanceOnInvoicePaidTo'],
	])('contradict each other: %s', async (_, stages, pointer) => {
		const id = await create(a, b)
		expect(await pipelines.post(tenant, { name: 'P', stages })).toMatchObject(refused(422, 'invalid_stages', pointer))
		expect(await pipelines.patch(tenant, id, { stages, name: 'P' })).toMatchObject(refused(422, 'invalid_stages', pointer))
		expect(await pipelines.read(tenant, id)).toMatchObject({ name: 'Retainers', stages: [a, b], version: 1 })
		expect(await pipelines.ids(tenant)).toHaveLength(2)
	})
})

describe('a stage with deals in it', () => {
	it('cannot be removed; others can, and it can be renamed and moved', async () => {
		const pipelineId = await create(a, b, c)
		await tenant.newDeal({ pipelineId, stage: 'b' })
		const answer = await pipelines.patch(tenant, pipelineId, { stages: [a, c] })
		expect(answer).toMatchObject(refused(409, 'stage_in_use', '/stages'))
		expect(answer.body.detail).toContain(': b.')
		const stages = [c, { ...b, label: 'Renamed', type: 'won' }]
		expect(await pipelines.changed(tenant, pipelineId, { stages })).toMatchObject({ stages })
	})

	it('can be removed once they have left it, or were deleted', async () => {
		const pipelineId = await create(a, b, c)
		const [moved, deleted] = [await tenant.newDeal({ pipelineId, stage: 'b' }), await tenant.newDeal({ pipelineId, stage: 'c' })]
		await deals.changed(tenant, moved, { stage: 'a' })
		expect(await pipelines.patch(tenant, pipelineId, { stages: [a] })).toMatchObject({ status: 409 })
		await deals.remove(tenant, deleted)
		expect(await pipelines.changed(tenant, pipelineId, { stages: [a] })).toMatchObject({ stages: [a] })
	})

	it('is there, however often it is removed while deals move to it', async () => {
		for (let round = 0; round < 5; round++) {
			const pipelineId = await create(a, b)
			const deal = await tenant.newDeal({ pipelineId })
			const [removed, moved, created] = await Promise.all([
				pipelines.patch(tenant, pipelineId, { stages: [a] }),
				deals.patch(tenant, deal, { stage: 'b' }),
				deals.post(tenant, { name: 'New', pipelineId, stage: 'b' }),
			])
			expect([200, 409]).toContain(removed.status)
			const taken = [moved.status === 200, created.status === 201]
			expect([removed.status, ...taken]).toEqual(removed.status === 200 ? [200, false, false] : [409, ...taken])
		}
	})
})

describe('a pipeline', () => {
	const inUse = { status: 409, body: { code: 'record_in_use' } }

	it('with deals in it cannot be deleted, nor one whose deals were deleted; once they are elsewhere it can', async () => {
		const [pipelineId, other] = [await create(a), await create(a)]
		const deal = await tenant.newDeal({ pipelineId })
		expect(await pipelines.remove(tenant, pipelineId)).toMatchObject(inUse)
		await deals.changed(tenant, deal, { pipelineId: other })
		expect(await pipelines.remove(tenant, pipelineId)).toMatchObject({ status: 200 })
		await deals.remove(tenant, deal)
		expect(await pipelines.remove(tenant, other)).toMatchObject(inUse)
	})

	it('is never deleted under a deal that is created at the same time', async () => {
		for (let round = 0; round < 5; round++) {
			const pipelineId = await create(a)
			const [removed, created] = await Promise.all([
				pipelines.remove(tenant, pipelineId),
				deals.post(tenant, { name: 'New', pipelineId }),
			])
			expect([
				[200, 422],
				[409, 201],
			]).toContainEqual([removed.status, created.status])
		}
	})
})
