// What the error of a conflict says: the fields in which both sides differ, what each has, and what the provider had before.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { newSync, type Settings, type TestSync } from '../../../../test/syncs.ts'
import type { MappingCreate } from '../../../generated/contract.ts'

const { server, tenant, crm } = useCrm()

const nobody = { conflictPolicy: 'manual' } as const
const start = async (settings: Settings & { reverse?: MappingCreate } = {}, mapping = fromCrm) =>
	newSync(server, tenant, await crm.connect(tenant), mapping, { ...nobody, ...settings })
async function differences({ id }: TestSync) {
	const errors = (await tenant.remit.syncs.errors.list(id)).data
	expect(errors).toMatchObject([{ errors: [{ code: 'conflict' }] }])
	expect(await tenant.remit.syncs.errors.get(id, errors[0]?.id as string)).toEqual(errors[0])
	return errors[0]?.errors[0]?.differences
}
const company = async () => (await tenant.remit.companies.list()).data[0]?.id as string
const put = (firm: object) => crm.put('7', { www: 'seven.example', ...firm })

/** A company of the CRM that was linked. */
async function linked(settings: Settings & { reverse?: MappingCreate } = {}) {
	put({ title: 'Seven', phone: '1' })
	const sync = await start(settings)
	await sync.run()
	return sync
}

it('Fields that have changed on both sides or on one, and no others', async () => {
	const sync = await linked()
	put({ title: 'Their Seven', phone: null })
	await tenant.remit.companies.update(await company(), { phone: 'ours', notes: 'No field of the mapping' })
	for (const mode of ['incremental', 'full'] as const) {
		await sync.run(mode)
		expect(await differences(sync)).toEqual([
			{ field: 'name', provider: 'Their Seven', remit: 'Seven', base: 'Seven' },
			{ field: 'phone', provider: null, remit: 'ours', base: '1' },
		])
	}
})

it('Where the provider’s record is not kept, or both were never alike, nothing is said of before', async () => {
	const sync = await linked({ keepSeen: false })
	put({ phone: 'theirs' })
	await tenant.remit.companies.update(await company(), { phone: 'ours' })
	await sync.run()
	expect(await differences(sync)).toEqual([{ field: 'phone', provider: 'theirs', remit: 'ours' }])
})

it('A first link', async () => {
	await tenant.remit.companies.create({ name: 'Seven', domain: 'seven.example', phone: 'ours' })
	put({ title: 'Seven', phone: 'theirs' })
	const sync = await start()
	await sync.run()
	expect(await differences(sync)).toEqual([{ field: 'phone', provider: 'theirs', remit: 'ours' }])
})

it('What was deleted on one side has nothing there', async () => {
	const sync = await linked()
	await tenant.remit.companies.delete(await company())
	put({ phone: 'theirs' })
	await sync.run()
	expect(await differences(sync)).toEqual([{ field: 'phone', provider: 'theirs', remit: null, base: '1' }])
	crm.clear()
	for (const { id } of (await tenant.remit.companies.list()).data) await tenant.remit.companies.delete(id)
	const other = await linked({ deletePolicy: 'delete' })
	crm.put('8', { www: 'eight.example' })
	await other.run()
	await tenant.remit.companies.update((await tenant.remit.syncs.links.get(other.id, '7')).recordId, { phone: 'ours' })
	crm.firms.delete('7')
	await other.run('full')
	expect(await differences(other)).toEqual([{ field: 'phone', provider: null, remit: 'ours', base: '1' }])
})

it('A record that goes out has the fields of the provider', async () => {
	put({ title: 'Seven', phone: 'theirs' })
	const { id } = await tenant.remit.companies.create({ name: 'Seven', domain: 'seven.example', phone: 'ours' })
	const sync = await start({}, toCrm)
	await sync.run()
	expect(await differences(sync)).toEqual([{ field: 'phone', provider: 'theirs', remit: 'ours' }])
	put({ phone: 'ours' })
	await sync.run('full')
	put({ title: 'Their Seven' })
	await tenant.remit.companies.update(id, { phone: 'ours again' })
	await sync.run()
	expect(await differences(sync)).toEqual([
		{ field: 'title', provider: 'Their Seven', remit: 'Seven', base: 'Seven' },
		{ field: 'phone', provider: 'ours', remit: 'ours again', base: 'ours' },
	])
	crm.firms.delete('7')
	await sync.run('failed')
	expect(await differences(sync)).toEqual([{ field: 'phone', provider: null, remit: 'ours again', base: 'ours' }])
})

it('A long value is cut to 200 characters', async () => {
	const sync = await linked()
	put({ title: 'T'.repeat(5_000), phone: '2' })
	await tenant.remit.companies.update(await company(), { name: 'N'.repeat(150), phone: '3' })
	crm.put('7', { www: 'seven.example', title: 'T'.repeat(190) })
	await sync.run()
	const [name] = (await differences(sync)) ?? []
	expect(name).toEqual({ field: 'name', provider: 'T'.repeat(190), remit: 'N'.repeat(150), base: 'Seven' })
})
