// What returns at the provider after its deletion brings back the company that it was linked with.
import { beforeEach, expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../test/crm.ts'
import { counts, newSync, type Settings } from '../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()
let id: string
beforeEach(() => {
	for (const key of ['1', '2', '3']) crm.put(key, { www: `c${key}.example` })
})

/** A sync that has brought three firms, and whose first one was deleted there and here. */
async function afterDeletion({ reverse, ...settings }: Settings & { reverse?: typeof toCrm } = {}) {
	const options = { deletePolicy: 'delete', ...settings, ...(reverse && { reverse }) } as const
	const sync = await newSync(server, tenant, await crm.connect(tenant), fromCrm, options)
	await sync.run()
	id = (await companies()).find(({ domain }) => domain === 'c1.example')?.id as string
	await tenant.remit.companies.update(id, { notes: 'Pays late.' })
	crm.firms.delete('1')
	expect(counts(await sync.run('full'))).toMatchObject({ deleted: 1 })
	expect(await companies()).toHaveLength(2)
	return sync
}

const companies = async () => (await tenant.remit.companies.list({ limit: 100 })).data
const events = async () => (await tenant.remit.webhooks.events.list({ resourceId: id })).data.map(({ type }) => type)

it('A company comes back as it was, with its link, and an event and its history say so', async () => {
	const sync = await afterDeletion()
	crm.put('1', { www: 'c1.example', phone: '77' })
	expect(counts(await sync.run('full'))).toEqual({ read: 3, created: 1, unchanged: 2 })
	expect(await tenant.remit.companies.get(id)).toMatchObject({ notes: 'Pays late.', phone: '77', deletedAt: null })
	expect(await companies()).toHaveLength(3)
	expect((await tenant.remit.companies.list({ search: 'c1' })).data).toMatchObject([{ id }])
	expect(await tenant.remit.syncs.links.get(sync.id, '1')).toMatchObject({ recordId: id, state: 'linked' })
	expect((await events()).slice(-3)).toEqual(['company.deleted', 'company.restored', 'company.updated'])
	const { data } = await tenant.remit.companies.history(id)
	expect(data.map(({ action }) => action).slice(0, 3)).toEqual(['updated', 'restored', 'deleted'])
	expect(data[1]).toMatchObject({
		before: { deletedAt: expect.any(Number) },
		after: { deletedAt: null },
		actor: { type: 'sync' },
	})
	expect(counts(await sync.run('full'))).toEqual({ read: 3, unchanged: 3 })
})

it('It comes and goes as often as the record does', async () => {
	const sync = await afterDeletion()
	for (let n = 0; n < 2; n++) {
		crm.put('1', { www: 'c1.example' })
		expect(counts(await sync.run('full'))).toMatchObject({ created: 1 })
		crm.firms.delete('1')
		expect(counts(await sync.run('full'))).toMatchObject({ deleted: 1 })
	}
	expect((await companies()).map(({ domain }) => domain).toSorted()).toEqual(['c2.example', 'c3.example'])
})

it('A company that somebody has made anew meanwhile is linked in its place', async () => {
	const sync = await afterDeletion()
	const { id: anew } = await tenant.remit.companies.create({ name: 'Anew', domain: 'c1.example' })
	crm.put('1', { www: 'c1.example' })
	await sync.run('full')
	expect(await tenant.remit.syncs.links.get(sync.id, '1')).toMatchObject({ recordId: anew })
	await expect(tenant.remit.companies.get(id)).rejects.toMatchObject({ status: 404 })
	await tenant.remit.syncs.links.delete(sync.id, '1')
	await tenant.remit.companies.update(anew, { domain: 'other.example' })
	expect(counts(await sync.run('full'))).toMatchObject({ created: 1 })
	await expect(tenant.remit.companies.get(id)).rejects.toMatchObject({ status: 404 })
})

it('One that matches several, or another one’s company, is what it was before', async () => {
	const sync = await afterDeletion()
	crm.put('4', { www: 'c1.example' })
	await sync.run('full')
	crm.put('1', { www: 'c1.example' })
	expect(counts(await sync.run('full'))).toMatchObject({ created: 1, unchanged: 3 })
	expect(await tenant.remit.syncs.links.get(sync.id, '1')).toMatchObject({ recordId: id })
})

it('A company that was deleted in Remit comes back when the provider’s record changes, and the source wins', async () => {
	const sync = await newSync(server, tenant, await crm.connect(tenant), fromCrm)
	await sync.run()
	id = (await companies()).find(({ domain }) => domain === 'c1.example')?.id as string
	await tenant.remit.companies.delete(id)
	crm.put('1', { www: 'c1.example', phone: '5' })
	expect(counts(await sync.run('full'))).toEqual({ read: 3, created: 1, unchanged: 2 })
	expect(await tenant.remit.companies.get(id)).toMatchObject({ phone: '5' })
})

it('Both ways: what was deleted in Remit, and so at the provider, comes back when it is restored there', async () => {
	const sync = await newSync(server, tenant, await crm.connect(tenant), fromCrm, { deletePolicy: 'delete', reverse: toCrm })
	await sync.run()
	id = (await companies()).find(({ domain }) => domain === 'c1.example')?.id as string
	await tenant.remit.companies.delete(id)
	await sync.run()
	expect(crm.firms.has('1')).toBe(false)
	crm.put('1', { www: 'c1.example', title: 'Firm 1' })
	crm.writes.length = 0
	expect(counts(await sync.run('full'))).toMatchObject({ created: 1 })
	expect(await tenant.remit.companies.get(id)).toMatchObject({ name: 'Firm 1' })
	await sync.run()
	expect(crm.writes).toEqual([])
})

it('A company that comes back by one connection is brought to the others', async () => {
	const sync = await afterDeletion()
	const outbound = await newSync(server, tenant, await crm.connect(tenant), toCrm, { deletePolicy: 'delete' })
	await outbound.run()
	crm.put('1', { www: 'c1.example', phone: '8' })
	await sync.run('full')
	expect(counts(await outbound.run())).toMatchObject({ read: 1 })
	expect(await tenant.remit.syncs.links.get(outbound.id, '1')).toMatchObject({ recordId: id })
})
