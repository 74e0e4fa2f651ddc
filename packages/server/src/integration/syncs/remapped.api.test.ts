// A mapping of a sync is changed: the next run brings all records up to it, and takes nothing of that for a change of a record.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../test/crm.ts'
import { counts, newSync, type Settings, type TestSync } from '../../../test/syncs.ts'
import type { MappingCreate } from '../../generated/contract.ts'

const { server, tenant, crm } = useCrm()

const without = (mapping: MappingCreate, name: string): MappingCreate => ({
	...mapping,
	fields: mapping.fields.filter(({ target, source }) => target !== name && source !== name),
})
const byName = { fromCrm: without(fromCrm, 'phone'), toCrm: without(toCrm, 'phone') }
const policies = ['source_wins', 'target_wins', 'newest_wins', 'manual'] as const

async function addPhone({ id }: TestSync): Promise<void> {
	const { mappingId, reverseMappingId, direction } = await tenant.remit.syncs.get(id)
	await tenant.remit.mappings.update(mappingId, { fields: (direction === 'outbound' ? toCrm : fromCrm).fields })
	if (reverseMappingId !== null) await tenant.remit.mappings.update(reverseMappingId, { fields: toCrm.fields })
}
/** Asked for what has changed since a time, the CRM lists nothing. */
const listsChanges = { changedField: 'modified', sinceParameter: 'www' }
const put = (id: string, firm: object) =>
	crm.put(id, { www: `c${id}.example`, modified: '2026-01-01T00:00:00Z', ...firm } as never)
const start = async (mapping: MappingCreate, settings: Settings & { reverse?: MappingCreate } = {}) =>
	newSync(server, tenant, await crm.connect(tenant, listsChanges), mapping, settings)
const companyOf = async ({ id }: TestSync, externalId: string) =>
	tenant.remit.companies.get((await tenant.remit.syncs.links.get(id, externalId)).recordId)
const differences = async ({ id }: TestSync) =>
	(await tenant.remit.syncs.errors.list(id)).data.flatMap(({ errors }) => errors.flatMap(({ differences }) => differences ?? []))

it.each(policies)('A field that is added comes in with the next run, whoever wins conflicts: %s', async (conflictPolicy) => {
	for (const id of ['1', '2', '3']) put(id, { phone: id === '3' ? null : `+${id}` })
	const sync = await start(byName.fromCrm, { conflictPolicy })
	await sync.run()
	await tenant.remit.companies.update((await companyOf(sync, '3')).id, { phone: 'ours' })
	await addPhone(sync)
	expect(counts(await sync.run())).toEqual({ read: 3, updated: 2, unchanged: 1 })
	const phones = async () => Promise.all(['1', '2', '3'].map(async (id) => (await companyOf(sync, id)).phone))
	expect(await phones()).toEqual(['+1', '+2', 'ours'])
	expect(counts(await sync.run())).toEqual({})
	expect(counts(await sync.run('full'))).toEqual({ read: 3, unchanged: 3 })
	expect(await phones()).toEqual(['+1', '+2', 'ours'])
})

it('Where both sides have something else in it already, the policy decides, as with a first link', async () => {
	put('1', { phone: 'theirs' })
	const sync = await start(byName.fromCrm, { conflictPolicy: 'manual' })
	await sync.run()
	await tenant.remit.companies.update((await companyOf(sync, '1')).id, { phone: 'ours' })
	await addPhone(sync)
	expect(counts(await sync.run())).toEqual({ read: 1, failed: 1 })
	expect(await differences(sync)).toMatchObject([{ field: 'phone', provider: 'theirs', remit: 'ours' }])
})

it.each(policies)('What was changed in Remit meanwhile stays, and still counts as changed: %s', async (conflictPolicy) => {
	put('1', { phone: '+1' })
	const sync = await start(byName.fromCrm, { conflictPolicy })
	await sync.run()
	await tenant.remit.companies.update((await companyOf(sync, '1')).id, { name: 'Ours' })
	await addPhone(sync)
	expect(counts(await sync.run())).toEqual({ read: 1, updated: 1 })
	expect(await companyOf(sync, '1')).toMatchObject({ name: 'Ours', phone: '+1' })
	put('1', { title: 'Theirs' })
	const run = await sync.run('full')
	const expected = { source_wins: 'Theirs', newest_wins: 'Ours', target_wins: 'Ours', manual: 'Ours' }[conflictPolicy]
	expect([(await companyOf(sync, '1')).name, run.progress.failed]).toEqual([expected, conflictPolicy === 'manual' ? 1 : 0])
})

it('What has changed at the provider meanwhile comes in as well, and is no conflict', async () => {
	put('1', { phone: '+1' })
	const sync = await start(byName.fromCrm, { conflictPolicy: 'manual' })
	await sync.run()
	put('1', { title: 'Theirs' })
	await addPhone(sync)
	expect(counts(await sync.run())).toEqual({ read: 1, updated: 1 })
	expect(await companyOf(sync, '1')).toMatchObject({ name: 'Theirs', phone: '+1' })
})

it('A transform that is added says all records anew, and a field that is taken away none', async () => {
	for (const id of ['1', '2']) put(id, { phone: `+${id}` })
	const sync = await start(fromCrm, { conflictPolicy: 'manual' })
	await sync.run()
	const { mappingId } = await tenant.remit.syncs.get(sync.id)
	const fields = fromCrm.fields.map((field) => (field.target === 'name' ? { ...field, transforms: [{ name: 'upper' }] } : field))
	await tenant.remit.mappings.update(mappingId, { fields: fields as MappingCreate['fields'] })
	expect(counts(await sync.run())).toEqual({ read: 2, updated: 2 })
	expect(await companyOf(sync, '1')).toMatchObject({ name: 'FIRM 1', phone: '+1' })
	await tenant.remit.mappings.update(mappingId, { fields: byName.fromCrm.fields })
	expect(counts(await sync.run())).toEqual({ read: 2, updated: 2 })
	expect(await companyOf(sync, '1')).toMatchObject({ name: 'Firm 1', phone: '+1' })
	await tenant.remit.mappings.update(mappingId, { name: 'Another name', match: null })
	expect(counts(await sync.run())).toEqual({})
})

it('What was emptied in Remit is not filled again without a word, when another transform says it otherwise', async () => {
	put('1', { phone: 'A1' })
	const sync = await start(fromCrm, { conflictPolicy: 'manual' })
	await sync.run()
	await tenant.remit.companies.update((await companyOf(sync, '1')).id, { phone: null })
	const fields = fromCrm.fields.map((field) => (field.target === 'phone' ? { ...field, transforms: [{ name: 'lower' }] } : field))
	await tenant.remit.mappings.update((await tenant.remit.syncs.get(sync.id)).mappingId, {
		fields: fields as typeof fromCrm.fields,
	})
	expect(counts(await sync.run())).toEqual({ read: 1, failed: 1 })
	expect(await differences(sync)).toMatchObject([{ field: 'phone', provider: 'a1', remit: null }])
})

it('A mapping that is mended brings in what failed by the one before', async () => {
	put('1', { phone: 'DE811907980' })
	put('2', { phone: 'no VAT id' })
	const vatId = { ...fromCrm, fields: [...byName.fromCrm.fields, { target: 'vatId', source: 'phone' }] } as MappingCreate
	const sync = await start(vatId, { conflictPolicy: 'manual' })
	expect(counts(await sync.run())).toEqual({ read: 2, created: 1, failed: 1 })
	await addPhone(sync)
	expect(counts(await sync.run())).toEqual({ read: 2, created: 1, updated: 1 })
	expect(await companyOf(sync, '2')).toMatchObject({ phone: 'no VAT id' })
	expect((await tenant.remit.syncs.get(sync.id)).openErrors).toBe(0)
})

it.each(policies)('A field that is added goes out with the next run, and empties none there: %s', async (conflictPolicy) => {
	for (const id of ['1', '2'])
		await tenant.remit.companies.create({ name: `C${id}`, domain: `c${id}.example`, phone: id === '1' ? 'ours' : null })
	const sync = await start(byName.toCrm, { conflictPolicy })
	await sync.run()
	const firm = (id: string) => [...crm.firms.values()].find(({ www }) => www === `c${id}.example`)
	crm.put(firm('2')?.id as string, { www: 'c2.example', phone: 'theirs' })
	crm.writes.length = 0
	await addPhone(sync)
	expect(await sync.run()).toMatchObject({ status: 'succeeded', progress: { updated: 1 } })
	expect([firm('1')?.phone, firm('2')?.phone, crm.writes.length]).toEqual(['ours', 'theirs', 1])
	crm.writes.length = 0
	for (const mode of ['incremental', 'full'] as const) expect(await sync.run(mode)).toMatchObject({ progress: { failed: 0 } })
	expect(crm.writes).toEqual([])
})

it('Where the provider has something else in it already, that goes out by the policy', async () => {
	await tenant.remit.companies.create({ name: 'C1', domain: 'c1.example', phone: 'ours' })
	const sync = await start(byName.toCrm, { conflictPolicy: 'manual' })
	await sync.run()
	const [firm] = crm.firms.values()
	crm.put(firm?.id as string, { www: 'c1.example', phone: 'theirs' })
	await addPhone(sync)
	expect(counts(await sync.run())).toEqual({ read: 1, failed: 1 })
	expect(await differences(sync)).toMatchObject([{ field: 'phone', provider: 'theirs', remit: 'ours' }])
})

it.each(policies)('Both ways, each side gets what only the other has, and nothing comes back: %s', async (conflictPolicy) => {
	for (const [id, phone] of [
		['1', 'theirs'],
		['2', null],
		['3', null],
	] as const)
		put(id, { phone })
	const sync = await start(byName.fromCrm, { conflictPolicy, reverse: byName.toCrm })
	await sync.run()
	await tenant.remit.companies.update((await companyOf(sync, '2')).id, { phone: 'ours' })
	await sync.run()
	crm.writes.length = 0
	await addPhone(sync)
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect(crm.writes).toHaveLength(1)
	const phones = async () =>
		Promise.all(['1', '2', '3'].map(async (id) => [crm.firms.get(id)?.phone, (await companyOf(sync, id)).phone]))
	const both = [
		['theirs', 'theirs'],
		['ours', 'ours'],
		[null, null],
	]
	expect(await phones()).toEqual(both)
	crm.writes.length = 0
	for (const mode of ['incremental', 'full'] as const) expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
	expect([crm.writes, await phones()]).toEqual([[], both])
})
