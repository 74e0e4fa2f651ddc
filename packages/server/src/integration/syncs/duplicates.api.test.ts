// A record that could not be brought to the one of Remit that it matches comes into being at neither side a second time.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../test/crm.ts'
import { counts, newSync, type Settings, type TestSync } from '../../../test/syncs.ts'
import type { SyncRun } from '../../generated/contract.ts'

const { server, tenant, crm } = useCrm()

const bothWays = async (settings: Settings = {}, inbound = fromCrm, object = {}) =>
	newSync(server, tenant, await crm.connect(tenant, object), inbound, { reverse: toCrm, ...settings })

async function errorsOf({ id }: TestSync, run: SyncRun) {
	const { data } = await tenant.remit.syncs.runs.errors.list(id, run.id)
	return data.map(({ direction, externalId, recordId, errors }) => [direction, externalId, recordId, errors[0]?.code])
}
const creations = () => crm.writes.filter((write) => write.startsWith('POST'))
const companies = async () => (await tenant.remit.companies.list({ limit: 100 })).data

it('Where both sides differ at first and nobody wins, both stay, in this run and in later ones', async () => {
	crm.put('203', { www: 'https://diff2.example/', title: 'Diff', phone: '1' })
	const { id } = await tenant.remit.companies.create({ name: 'Diff', domain: 'diff2.example', phone: '2' })
	const sync = await bothWays({ conflictPolicy: 'manual' })
	const conflict = ['inbound', '203', id, 'conflict']
	expect(await errorsOf(sync, await sync.run())).toEqual([conflict])
	expect(crm.writes).toEqual([])
	await tenant.remit.companies.update(id, { notes: 'Still another phone.' })
	for (const mode of ['incremental', 'full', 'failed'] as const) {
		expect(await errorsOf(sync, await sync.run(mode))).toContainEqual(conflict)
		expect([crm.writes, (await tenant.remit.companies.get(id)).phone]).toEqual([[], '2'])
	}
	crm.put('203', { www: 'https://diff2.example/', phone: '2' })
	expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
	expect(await tenant.remit.syncs.links.get(sync.id, '203')).toMatchObject({ recordId: id, state: 'linked' })
	await tenant.remit.companies.update(id, { phone: '3' })
	await sync.run()
	expect([crm.writes, crm.firms.get('203')?.phone, crm.firms.size]).toEqual([['PATCH 203'], '3', 1])
})

it('A linked record that has changed on both sides is not written while nobody has decided', async () => {
	crm.put('7', { www: 'seven.example', phone: '1' })
	const sync = await bothWays({ conflictPolicy: 'manual' })
	await sync.run()
	const [company] = await companies()
	const id = company?.id as string
	crm.put('7', { www: 'seven.example', phone: 'theirs' })
	await tenant.remit.companies.update(id, { phone: 'ours' })
	for (const mode of ['incremental', 'full'] as const) {
		expect(await errorsOf(sync, await sync.run(mode))).toContainEqual(['inbound', '7', id, 'conflict'])
		expect([crm.writes, crm.firms.get('7')?.phone, (await companies())[0]?.phone]).toEqual([[], 'theirs', 'ours'])
	}
	crm.put('7', { www: 'seven.example', phone: '1' })
	expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
	expect(crm.firms.get('7')?.phone).toBe('ours')
})

it.each([
	['several that match', { phone: '1' }, 3, 'several_matches'],
	['a value that cannot be written', { phone: 'x'.repeat(2_000) }, 1, 'maxLength'],
	['a value that is missing', { title: null }, 1, 'required'],
])('What an inbound record matches is not created anew: %s', async (_, firm, count, code) => {
	crm.put('203', { www: 'https://diff2.example/', ...firm })
	for (let n = 0; n < count; n++) await tenant.remit.companies.create({ name: `Ours ${n}`, domain: 'diff2.example' })
	await tenant.remit.companies.create({ name: 'Another', domain: 'another.example' })
	const sync = await bothWays()
	for (const mode of [undefined, 'full'] as const) {
		const errors = await errorsOf(sync, await sync.run(mode))
		expect(errors.map((error) => error[3])).toEqual([code])
		expect(creations()).toEqual([expect.stringContaining('another.example')])
	}
})

it('Once a link by hand says which one of several it is, the others are created at the provider', async () => {
	crm.put('203', { www: 'diff2.example' })
	const ids = []
	for (const name of ['One', 'Two']) ids.push((await tenant.remit.companies.create({ name, domain: 'diff2.example' })).id)
	const toCrmByTitle = { ...toCrm, match: null }
	const connectionId = await crm.connect(tenant)
	const sync = await newSync(server, tenant, connectionId, fromCrm, { reverse: toCrmByTitle })
	expect(await errorsOf(sync, await sync.run())).toMatchObject([['inbound', '203', null, 'several_matches']])
	await tenant.remit.syncs.links.create(sync.id, { externalId: '203', recordId: ids[0] as string })
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect([(await tenant.remit.syncs.get(sync.id)).openErrors, creations()]).toEqual([0, [expect.stringContaining('Two')]])
	crm.writes.length = 0
	await sync.run('full')
	expect(crm.writes).toEqual([])
})

it('What is skipped since several match is not created anew', async () => {
	crm.put('203', { www: 'https://diff2.example/' })
	for (const name of ['One', 'Two']) await tenant.remit.companies.create({ name, domain: 'diff2.example' })
	const sync = await bothWays({}, { ...fromCrm, match: { keys: ['domain'], onMultiple: 'skip' } })
	await sync.run()
	await sync.run('full')
	expect(creations()).toEqual([])
})

it.each([
	['can be asked for', {}],
	['cannot be asked for', { readPath: undefined }],
])('A record that %s holds nothing back once it is gone', async (_, object) => {
	crm.put('203', { www: 'https://diff2.example/', phone: '1' })
	await tenant.remit.companies.create({ name: 'Firm 203', domain: 'diff2.example', phone: '2' })
	const sync = await bothWays({ conflictPolicy: 'manual' }, fromCrm, object)
	await sync.run()
	crm.firms.delete('203')
	expect(counts(await sync.run('full'))).toMatchObject({ created: 1 })
	expect(creations()).toHaveLength(1)
})

const inbound = async (object = {}) =>
	newSync(server, tenant, await crm.connect(tenant, object), fromCrm, { deletePolicy: 'delete' })

it.each([
	['can be asked for', {}],
	['cannot be asked for', { readPath: undefined }],
])('A company is taken over by the record that its own one was merged into, which %s', async (_, object) => {
	crm.put('60', { www: 'merged.example', phone: '1' })
	crm.put('99', { www: 'other.example' })
	const sync = await inbound(object)
	await sync.run()
	const id = (await companies()).find(({ domain }) => domain === 'merged.example')?.id as string
	const { id: invoiceId } = await tenant.remit.invoices.create({ companyId: id })
	crm.firms.delete('60')
	crm.put('61', { www: 'merged.example', phone: '2' })
	const run = await sync.run('full')
	expect(counts(run)).toEqual({ read: 2, unchanged: 1, failed: 1, skipped: 1 })
	expect(await errorsOf(sync, run)).toEqual([['inbound', '61', id, 'linked_already']])
	expect(await tenant.remit.syncs.links.get(sync.id, '61')).toMatchObject({ recordId: id, lastSeen: null })
	expect(counts(await sync.run('failed'))).toMatchObject({ updated: 1 })
	expect(await tenant.remit.companies.get(id)).toMatchObject({ name: 'Firm 61', phone: '2' })
	expect(counts(await sync.run('full'))).toEqual({ read: 2, unchanged: 2 })
	expect([(await companies()).length, (await tenant.remit.invoices.get(invoiceId)).companyId]).toEqual([2, id])
})

it('A company that was taken over is not written out before its new record was read', async () => {
	crm.put('60', { www: 'merged.example', phone: '1' })
	const sync = await bothWays({ deletePolicy: 'delete' })
	await sync.run()
	const [company] = await companies()
	await tenant.remit.companies.update(company?.id as string, { notes: 'A customer.' })
	crm.firms.delete('60')
	crm.put('61', { www: 'merged.example', phone: '2' })
	await sync.run('full')
	expect([crm.writes, await companies()]).toEqual([[], [expect.objectContaining({ id: company?.id, phone: '1' })]])
	expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
	expect([crm.writes, await companies()]).toEqual([[], [expect.objectContaining({ id: company?.id, phone: '2' })]])
})

it('A record that no other one stands for any more is deleted', async () => {
	crm.put('60', { www: 'merged.example' })
	crm.put('61', { www: 'merged.example' })
	crm.put('99', { www: 'other.example' })
	const sync = await inbound()
	expect(counts(await sync.run())).toEqual({ read: 3, created: 2, failed: 1 })
	crm.firms.delete('60')
	crm.put('61', { www: 'moved.example' })
	expect(counts(await sync.run('full'))).toEqual({ read: 2, created: 1, unchanged: 1, deleted: 1 })
})
