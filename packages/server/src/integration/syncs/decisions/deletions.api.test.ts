// A record that is deleted on one side and has changed on the other: neither is lost before somebody, or the policy, has decided.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { counts, newSync, type Settings, type TestSync } from '../../../../test/syncs.ts'
import type { MappingCreate } from '../../../generated/contract.ts'

const { server, tenant, crm } = useCrm()

const open = async ({ id }: TestSync) => (await tenant.remit.syncs.errors.list(id)).data
const decide = async (sync: TestSync, use: 'source' | 'target') => {
	const errors = await open(sync)
	expect(errors).toHaveLength(1)
	await tenant.remit.syncs.errors.resolve(sync.id, errors[0]?.id as string, { use })
}
const isHere = async (id: string) => (await tenant.ask('GET', `/api/companies/${id}`)).status === 200
const linksOf = async ({ id }: TestSync, recordId: string) => (await tenant.remit.syncs.links.list(id, { recordId })).data

type More = Settings & { reverse?: MappingCreate }

/** A sync of two firms, and the company of firm 7. */
async function linked(settings: More, object = {}) {
	for (const key of ['7', '8']) crm.put(key, { www: `c${key}.example`, phone: '1' })
	const sync = await newSync(server, tenant, await crm.connect(tenant, object), fromCrm, settings)
	await sync.run()
	return { sync, recordId: (await tenant.remit.syncs.links.get(sync.id, '7')).recordId }
}

/** Deleted here, and changed there since. */
async function deletedHere(settings: More, object = {}) {
	const { sync, recordId } = await linked(settings, object)
	await tenant.remit.companies.delete(recordId)
	crm.put('7', { www: 'c7.example', phone: 'theirs' })
	await sync.run()
	return { sync, recordId }
}

const nobody = { conflictPolicy: 'manual', deletePolicy: 'delete' } as const

it.each([
	['can be asked for', {}],
	['cannot be asked for', { readPath: undefined }],
])('What was deleted here and has changed there since is a conflict, and stays: a record that %s', async (_, object) => {
	const { sync, recordId } = await deletedHere({ ...nobody, reverse: toCrm }, object)
	for (const mode of ['incremental', 'full', 'failed'] as const) {
		await sync.run(mode)
		const conflict = { direction: 'inbound', externalId: '7', recordId, errors: [{ code: 'conflict' }] }
		expect([crm.writes, await open(sync)]).toEqual([[], [expect.objectContaining({ externalId: '7' })]])
		expect(await open(sync)).toMatchObject([conflict])
	}
})

it.each([
	['source', 'incremental'],
	['target', 'incremental'],
	['source', 'failed'],
	['target', 'failed'],
	['source', 'full'],
	['target', 'full'],
] as const)('It is decided for the %s, and an %s run does it', async (use, mode) => {
	const { sync, recordId } = await deletedHere({ ...nobody, reverse: toCrm })
	await decide(sync, use)
	expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
	expect([await isHere(recordId), crm.firms.has('7')]).toEqual(use === 'source' ? [true, true] : [false, false])
	if (use === 'source') expect(await tenant.remit.companies.get(recordId)).toMatchObject({ phone: 'theirs' })
	expect([await open(sync), (await linksOf(sync, recordId)).length]).toEqual([[], use === 'source' ? 1 : 0])
	crm.writes.length = 0
	expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
	expect(crm.writes).toEqual([])
})

it('Once the provider’s record is what it was when it was deleted here, it is deleted there', async () => {
	const { sync, recordId } = await deletedHere({ ...nobody, reverse: toCrm })
	crm.put('7', { www: 'c7.example', phone: '1' })
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect([crm.firms.has('7'), await open(sync), await isHere(recordId)]).toEqual([false, [], false])
})

it.each([
	['source_wins', true],
	['target_wins', false],
	['newest_wins', true],
] as const)('By %s it is decided at once: both sides have it %s', async (conflictPolicy, both) => {
	const { sync, recordId } = await deletedHere({ ...nobody, conflictPolicy, reverse: toCrm })
	expect([await isHere(recordId), crm.firms.has('7'), await open(sync)]).toEqual([both, both, []])
})

it('A sync that only brings in says so as well, and what was decided stands until the record changes again', async () => {
	const { sync, recordId } = await deletedHere({ conflictPolicy: 'manual' })
	expect(await open(sync)).toMatchObject([{ externalId: '7', recordId, errors: [{ code: 'conflict' }] }])
	await decide(sync, 'target')
	for (const mode of ['incremental', 'full'] as const) {
		expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
		expect([await open(sync), await isHere(recordId)]).toEqual([[], false])
	}
	crm.put('7', { www: 'c7.example', phone: 'theirs again' })
	await sync.run()
	await decide(sync, 'source')
	expect(counts(await sync.run())).toMatchObject({ created: 1 })
	expect(await tenant.remit.companies.get(recordId)).toMatchObject({ phone: 'theirs again' })
})

/** Deleted there, and changed here since; both ways, unless it goes out only. */
async function deletedThere(settings: More, object = {}, mapping = fromCrm) {
	for (const key of ['7', '8']) crm.put(key, { www: `c${key}.example`, phone: '1' })
	const connectionId = await crm.connect(tenant, object)
	const sync = await newSync(server, tenant, connectionId, fromCrm, mapping === fromCrm ? { reverse: toCrm, ...settings } : {})
	await sync.run()
	const { recordId } = await tenant.remit.syncs.links.get(sync.id, '7')
	const meant = mapping === fromCrm ? sync : await newSync(server, tenant, connectionId, mapping, settings)
	if (meant !== sync) await meant.run()
	crm.firms.delete('7')
	await tenant.remit.companies.update(recordId, { phone: 'ours' })
	return { sync: meant, recordId }
}
const phoneThere = () => [...crm.firms.values()].find(({ www }) => www === 'c7.example')?.phone

it.each([
	['both ways, found by a full run', 'full', { conflictPolicy: 'target_wins', deletePolicy: 'delete' }, fromCrm, {}],
	[
		'both ways, of an API that answers no record alone',
		'full',
		{ ...nobody, conflictPolicy: 'target_wins' },
		fromCrm,
		{ readPath: undefined },
	],
	['both ways, found when it goes out', 'incremental', { conflictPolicy: 'target_wins' }, fromCrm, {}],
	['by the time of the change', 'incremental', { conflictPolicy: 'newest_wins' }, fromCrm, {}],
	['of a sync that goes out', 'incremental', { conflictPolicy: 'source_wins' }, toCrm, {}],
] as const)(
	'What was deleted there and has changed here since is created anew where Remit wins: %s',
	async (_, mode, settings, mapping, object) => {
		const { sync, recordId } = await deletedThere(settings, object, mapping)
		expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
		expect([phoneThere(), await isHere(recordId), crm.firms.size]).toEqual(['ours', true, 2])
		const [link] = await linksOf(sync, recordId)
		expect(crm.firms.get(link?.externalId as string)?.phone).toBe('ours')
		crm.writes.length = 0
		expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
		expect(crm.writes).toEqual([])
		await tenant.remit.companies.update(recordId, { phone: 'ours again' })
		await sync.run()
		expect(phoneThere()).toBe('ours again')
	},
)

it.each([
	['both ways', 'source_wins', fromCrm],
	['that goes out', 'target_wins', toCrm],
] as const)('It is left alone where the provider wins, of a sync %s that deletes nothing', async (_, conflictPolicy, mapping) => {
	const { sync, recordId } = await deletedThere({ conflictPolicy }, {}, mapping)
	for (const mode of ['incremental', 'full'] as const) {
		expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
		expect([phoneThere(), await isHere(recordId)]).toEqual([undefined, true])
	}
})

it.each([
	['delete', 'full', 'inbound'],
	['ignore', 'incremental', 'outbound'],
] as const)(
	'Where nobody wins and deletions are %s it is one conflict, whatever run meets it',
	async (deletePolicy, mode, direction) => {
		const { sync, recordId } = await deletedThere({ conflictPolicy: 'manual', deletePolicy })
		await sync.run(mode)
		const first = await open(sync)
		expect(first).toMatchObject([{ direction, externalId: '7', recordId, errors: [{ code: 'conflict' }] }])
		for (const again of ['failed', 'full', 'incremental'] as const) {
			await sync.run(again)
			expect((await open(sync)).map(({ id }) => id)).toEqual([first[0]?.id])
		}
		expect([phoneThere(), await isHere(recordId)]).toEqual([undefined, true])
	},
)

it.each([
	['source', 'delete', [false, undefined]],
	['target', 'delete', [true, 'ours']],
	['source', 'ignore', [true, undefined]],
	['target', 'ignore', [true, 'ours']],
] as const)('It is decided for the %s, where deletions are %s', async (use, deletePolicy, both) => {
	const { sync, recordId } = await deletedThere({ conflictPolicy: 'manual', deletePolicy })
	await sync.run('full')
	await decide(sync, use)
	for (const mode of ['incremental', 'full'] as const) {
		expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
		expect([await isHere(recordId), phoneThere(), await open(sync)]).toEqual([...both, []])
	}
})

it.each([
	['found by a full run', 'full', 'delete'],
	['found when it goes out', 'incremental', 'ignore'],
] as const)('Where none can be created it is unlinked, and an error says why: %s', async (_, mode, deletePolicy) => {
	const { sync, recordId } = await deletedThere({ conflictPolicy: 'target_wins', deletePolicy }, { create: undefined })
	await sync.run(mode)
	const reason = 'No record of firms can be created.'
	expect(await open(sync)).toMatchObject([{ direction: 'outbound', recordId, errors: [{ code: 'provider_rejected', reason }] }])
	expect(await linksOf(sync, recordId)).toEqual([])
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect(await open(sync)).toHaveLength(1)
})

it.each(['incremental', 'full'] as const)(
	'What an outbound write found to be gone there is decided for the source, and the %s run that deletes it closes the error',
	async (mode) => {
		// Asked for what has changed since a time, this provider lists nothing.
		for (const id of ['7', '8']) crm.firms.set(id, { id, modified: '2026-01-01T00:00:00Z' } as never)
		const object = { changedField: 'modified', sinceParameter: 'www' }
		const { sync, recordId } = await linked({ ...nobody, reverse: toCrm }, object)
		crm.firms.delete('7')
		await tenant.remit.companies.update(recordId, { phone: 'ours' })
		await sync.run('incremental')
		expect(await open(sync)).toMatchObject([{ direction: 'outbound', recordId, errors: [{ code: 'conflict' }] }])
		await decide(sync, 'source')
		expect(counts(await sync.run(mode)).deleted).toBe(1)
		expect([await isHere(recordId), await open(sync)]).toEqual([false, []])
	},
)
