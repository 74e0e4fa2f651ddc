// A conflict that is open says what both records have now, costs no write that nobody takes, and ends with both records.
import { beforeEach, expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { counts, newSync, type Settings, type TestSync } from '../../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()

/** Asked for what has changed since a time, this provider lists nothing. */
const listsNothing = { changedField: 'modified', sinceParameter: 'www' }
const open = async ({ id }: TestSync) => (await tenant.remit.syncs.errors.list(id)).data
const differences = async (sync: TestSync) => (await open(sync)).flatMap(({ errors }) => errors.flatMap((one) => one.differences))
const update = (id: string, phone: string) => tenant.remit.companies.update(id, { phone })

beforeEach(() => {
	for (const key of ['7', '8']) crm.put(key, { www: `c${key}.example`, phone: '1', modified: '2026-01-01T00:00:00Z' } as never)
})

/** Two firms and their companies, linked both ways, and the company of firm 7. */
async function linked(settings: Settings = {}, object: object = listsNothing, mapping = fromCrm) {
	const connectionId = await crm.connect(tenant, object)
	const back = mapping === fromCrm && { reverse: toCrm }
	const sync = await newSync(server, tenant, connectionId, mapping, { conflictPolicy: 'manual', ...back, ...settings })
	if (mapping !== fromCrm) await (await newSync(server, tenant, connectionId, fromCrm)).run()
	await sync.run()
	const recordId = (await tenant.remit.companies.list({ search: 'c7.example' })).data[0]?.id as string
	crm.writes.length = 0
	return { sync, recordId }
}

it.each([
	['deleted there, and deletions are carried out', 'delete', true],
	['deleted there, and deletions are ignored', 'ignore', true],
	['changed on both sides', 'ignore', false],
] as const)(
	'A record that changes here again is shown as it is now, of a conflict of one %s',
	async (_, deletePolicy, isGone) => {
		const { sync, recordId } = await linked({ deletePolicy })
		await update(recordId, 'ours')
		if (isGone) crm.firms.delete('7')
		else crm.put('7', { www: 'c7.example', phone: 'theirs' })
		await sync.run('full')
		const provider = isGone ? null : 'theirs'
		expect(await differences(sync)).toEqual([{ field: 'phone', provider, remit: 'ours', base: '1' }])
		await update(recordId, 'ours, later')
		expect(counts(await sync.run('incremental'))).toEqual({ read: 1, failed: 1 })
		expect(await differences(sync)).toEqual([{ field: 'phone', provider, remit: 'ours, later', base: '1' }])
		expect(await open(sync)).toMatchObject([{ count: 2 }])
	},
)

it('A conflict ends in the run that brings out what makes both alike', async () => {
	const { sync, recordId } = await linked()
	await update(recordId, 'ours')
	crm.put('7', { www: 'c7.example', phone: 'theirs' })
	await sync.run('full')
	await update(recordId, 'theirs')
	expect(await sync.run('incremental')).toMatchObject({ status: 'succeeded' })
	expect([await open(sync), crm.writes]).toEqual([[], []])
})

it.each([
	['both ways', fromCrm],
	['that only goes out', toCrm],
] as const)(
	'What was deleted there is asked for, and not written to again, while its conflict is open: of a sync %s',
	async (_, mapping) => {
		const { sync, recordId } = await linked({}, listsNothing, mapping)
		crm.firms.delete('7')
		await update(recordId, 'ours')
		await sync.run()
		crm.writes.length = 0
		for (const mode of ['full', 'incremental', 'failed'] as const) {
			await sync.run(mode)
			expect([crm.writes, (await open(sync)).length]).toEqual([[], 1])
		}
		await update(recordId, 'ours, later')
		await sync.run()
		expect(crm.writes).toEqual([])
		expect(await open(sync)).toMatchObject([{ errors: [{ differences: [{ remit: 'ours, later' }] }] }])
	},
)

it.each(['delete', 'ignore'] as const)(
	'A conflict with a deletion there names both records, where deletions mean %s',
	async (deletePolicy) => {
		const { sync, recordId } = await linked({ deletePolicy })
		crm.firms.delete('7')
		await update(recordId, 'ours')
		await sync.run('full')
		const reason = `The record ${recordId} has changed here, and 7 was deleted at the provider.`
		expect(await open(sync)).toMatchObject([{ errors: [{ code: 'conflict', reason }] }])
	},
)

it.each([
	['source', 'ours'],
	['target', undefined],
] as const)('Of a sync that only goes out, what was deleted there is decided for the %s', async (use, phone) => {
	const { sync, recordId } = await linked({}, listsNothing, toCrm)
	crm.firms.delete('7')
	await update(recordId, 'ours')
	await sync.run()
	const [error] = await open(sync)
	await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use })
	for (const mode of ['incremental', 'full'] as const) {
		expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
		const found = [...crm.firms.values()].find(({ www }) => www === 'c7.example')
		expect([await open(sync), found?.phone]).toEqual([[], phone])
	}
})

it.each(['delete', 'ignore'] as const)(
	'An open conflict ends when both records are deleted, where deletions mean %s',
	async (deletePolicy) => {
		const { sync, recordId } = await linked({ deletePolicy })
		await update(recordId, 'ours')
		crm.put('7', { www: 'c7.example', phone: 'theirs' })
		await sync.run('full')
		expect(await open(sync)).toHaveLength(1)
		crm.firms.delete('7')
		await tenant.remit.companies.delete(recordId)
		await sync.run('incremental')
		expect([await open(sync), crm.writes]).toEqual([[], []])
		expect((await tenant.remit.syncs.links.list(sync.id, { recordId })).data).toEqual([])
	},
)

it.each([
	['both ways', fromCrm],
	['that only goes out', toCrm],
] as const)('A full run closes the error of a record that is deleted here, of a sync %s', async (_, mapping) => {
	const { sync } = await linked({}, listsNothing, mapping)
	for (const key of ['1', '2']) crm.put(key, { www: 'same.example' })
	const { id } = await tenant.remit.companies.create({ name: 'Same', domain: 'same.example' })
	await sync.run()
	expect(await open(sync)).toMatchObject([{ direction: 'outbound', recordId: id, errors: [{ code: 'several_matches' }] }])
	await tenant.remit.companies.delete(id)
	for (const key of ['1', '2']) crm.firms.delete(key)
	await sync.run('full')
	expect(await open(sync)).toEqual([])
})

it.each(['delete', 'ignore'] as const)(
	'A conflict of a record that is then deleted here is one with that deletion, where deletions mean %s',
	async (deletePolicy) => {
		const { sync, recordId } = await linked({ deletePolicy })
		await update(recordId, 'ours')
		crm.put('7', { www: 'c7.example', phone: 'theirs' })
		await sync.run('full')
		await tenant.remit.companies.delete(recordId)
		expect(counts(await sync.run('incremental'))).toEqual({ read: 1, failed: 1 })
		expect(await differences(sync)).toEqual([{ field: 'phone', provider: 'theirs', remit: null, base: '1' }])
		expect(crm.writes).toEqual([])
	},
)
