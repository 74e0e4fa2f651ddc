// What lost a conflict against Remit stays lost, until that very field changes at the provider again; or the provider gets what Remit has.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { newSync, type Settings, type TestSync } from '../../../../test/syncs.ts'
import type { MappingCreate } from '../../../generated/contract.ts'

const { server, tenant, crm } = useCrm()

const start = async (settings: Settings & { reverse?: MappingCreate }) =>
	newSync(server, tenant, await crm.connect(tenant), fromCrm, settings)
const company = async () => {
	const [found] = (await tenant.remit.companies.list()).data
	return { id: found?.id as string, name: found?.name, phone: found?.phone }
}
const put = (firm: object) => crm.put('7', { www: 'seven.example', ...firm })

/** Both have changed the phone since they were linked. */
async function bothChanged(settings: Settings & { reverse?: MappingCreate }) {
	put({ title: 'Seven', phone: '1' })
	const sync = await start(settings)
	await sync.run()
	put({ phone: 'theirs' })
	await tenant.remit.companies.update((await company()).id, { phone: 'ours' })
	await sync.run()
	return sync
}

async function decided(settings: Settings): Promise<TestSync> {
	const sync = await bothChanged({ ...settings, conflictPolicy: 'manual' })
	const [error] = (await tenant.remit.syncs.errors.list(sync.id)).data
	await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use: 'target' })
	await sync.run()
	return sync
}

async function linkedFirst(settings: Settings): Promise<TestSync> {
	await tenant.remit.companies.create({ name: 'Seven', domain: 'seven.example', phone: 'ours' })
	put({ title: 'Seven', phone: 'theirs' })
	const sync = await start({ ...settings, conflictPolicy: 'target_wins' })
	await sync.run()
	return sync
}

it.each([
	['by the policy', (settings: Settings) => bothChanged({ ...settings, conflictPolicy: 'target_wins' })],
	['by a decision', decided],
	['when both were linked', linkedFirst],
])('What lost %s stays lost when another field changes there, and no longer', async (_, lose) => {
	const sync = await lose({})
	expect(await company()).toMatchObject({ name: 'Seven', phone: 'ours' })
	for (const title of ['Seven GmbH', 'Seven AG']) {
		put({ title })
		for (const mode of ['incremental', 'full'] as const) {
			expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
			expect(await company()).toMatchObject({ name: title, phone: 'ours' })
		}
	}
	put({ phone: 'theirs again' })
	await sync.run()
	expect(await company()).toMatchObject({ name: 'Seven AG', phone: 'theirs again' })
	// What had lost once is a value like any other by now.
	put({ phone: 'theirs' })
	await sync.run()
	expect(await company()).toMatchObject({ phone: 'theirs' })
})

it('What lost and is changed here once more is no conflict while the provider has what it had', async () => {
	const sync = await decided({})
	await tenant.remit.companies.update((await company()).id, { phone: 'ours again' })
	expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
	expect(await company()).toMatchObject({ phone: 'ours again' })
})

it('A decision for the provider takes what had lost as well', async () => {
	const sync = await decided({})
	put({ title: 'Seven GmbH' })
	await tenant.remit.companies.update((await company()).id, { name: 'Our Seven' })
	await sync.run()
	const [error] = (await tenant.remit.syncs.errors.list(sync.id)).data
	await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use: 'source' })
	await sync.run()
	expect(await company()).toMatchObject({ name: 'Seven GmbH', phone: 'theirs' })
})

it('A preview leaves out what has lost, as a run does', async () => {
	const sync = await bothChanged({ conflictPolicy: 'target_wins' })
	const { mappingId, connectionId } = await tenant.remit.syncs.get(sync.id)
	const preview = async () =>
		(await tenant.remit.mappings.preview(mappingId, { connectionId, externalIds: ['7'] })).records.map(({ action, changes }) => [
			action,
			changes,
		])
	put({ title: 'Seven GmbH' })
	expect(await preview()).toEqual([['update', { name: { from: 'Seven', to: 'Seven GmbH' } }]])
	put({ title: 'Seven', phone: 'theirs' })
	await tenant.remit.companies.update((await company()).id, { notes: 'No field of the mapping' })
	expect(await preview()).toEqual([['unchanged', {}]])
	put({ phone: 'theirs again' })
	expect(await preview()).toEqual([['update', { phone: { from: 'ours', to: 'theirs again' } }]])
})

it('What goes out alone goes out again when it changes after the provider has won', async () => {
	const { id } = await tenant.remit.companies.create({ name: 'Seven', domain: 'seven.example', phone: '1' })
	const sync = await newSync(server, tenant, await crm.connect(tenant), toCrm, { conflictPolicy: 'target_wins' })
	await sync.run()
	const [firm] = crm.firms.values()
	const there = firm?.id as string
	const phone = () => crm.firms.get(there)?.phone
	crm.put(there, { www: 'seven.example', phone: 'theirs' })
	await tenant.remit.companies.update(id, { phone: 'ours' })
	for (const mode of ['incremental', 'full'] as const) {
		await sync.run(mode)
		expect(phone()).toBe('theirs')
	}
	await tenant.remit.companies.update(id, { phone: 'ours again' })
	await sync.run()
	expect(phone()).toBe('ours again')
	crm.put(there, { www: 'seven.example', phone: 'theirs again' })
	await tenant.remit.companies.update(id, { phone: 'ours, last' })
	await sync.run()
	expect(phone()).toBe('theirs again')
})

it('Both ways, the provider gets what Remit has, also of a record that is linked later', async () => {
	const sync = await start({ reverse: toCrm, conflictPolicy: 'target_wins' })
	await tenant.remit.companies.create({ name: 'Seven', domain: 'seven.example', phone: 'ours' })
	await sync.run()
	const [firm] = crm.firms.values()
	expect(firm).toMatchObject({ phone: 'ours' })
	await tenant.remit.syncs.links.delete(sync.id, firm?.id as string)
	crm.put(firm?.id as string, { www: 'seven.example', phone: 'theirs' })
	await sync.run()
	expect([crm.firms.get(firm?.id as string)?.phone, (await company()).phone]).toEqual(['ours', 'ours'])
})

it('Both ways, what the mapping back does not write stays lost', async () => {
	const reverse = { ...toCrm, fields: toCrm.fields.filter(({ target }) => target !== 'phone') }
	const sync = await bothChanged({ reverse, conflictPolicy: 'target_wins' })
	put({ title: 'Seven GmbH' })
	await sync.run()
	expect(await company()).toMatchObject({ name: 'Seven GmbH', phone: 'ours' })
	put({ phone: 'theirs again' })
	await sync.run()
	expect(await company()).toMatchObject({ phone: 'theirs again' })
})
