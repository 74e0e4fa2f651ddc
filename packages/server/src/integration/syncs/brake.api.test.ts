// How many records may be deleted at once before somebody has to confirm it.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../test/crm.ts'
import { counts, newSync } from '../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()

const cases = [
	[1, 2, false],
	[1, 3, false],
	[2, 3, true],
	[5, 10, false],
	[6, 10, true],
	[9, 10, true],
	[10, 50, false],
	[11, 50, true],
	[11, 60, false],
] as const

it.each(cases)('%s of %s at the provider: waits %s', async (gone, all, waits) => {
	for (let n = 0; n < all; n++) crm.put(String(n), { www: `f${n}.example` })
	const sync = await newSync(server, tenant, await crm.connect(tenant), fromCrm, { deletePolicy: 'delete' })
	await sync.run()
	for (let n = 0; n < gone; n++) crm.firms.delete(String(n))
	const run = await sync.run('full')
	if (!waits) return expect(counts(run)).toEqual({ read: all - gone, unchanged: all - gone, deleted: gone })
	const detail = `${gone} of ${all} linked records would be deleted.`
	expect(run).toMatchObject({ status: 'waiting', error: { code: 'too_many_deletions', detail } })
	expect((await tenant.remit.companies.list()).meta.total).toBe(all)
	const { deletions } = tenant.remit.syncs.runs
	const { meta, data } = await deletions.list(sync.id, run.id, { limit: 1 })
	expect([meta.total, data.length]).toEqual([gone, 1])
	const listed = []
	for await (const { externalId } of deletions.list(sync.id, run.id, { limit: 4 })) listed.push(Number(externalId))
	expect(listed.toSorted((one, other) => one - other)).toEqual([...Array(gone).keys()])
	await tenant.remit.syncs.runs.confirm(sync.id, run.id)
	expect(counts(await sync.finish())).toMatchObject({ deleted: gone })
	expect((await deletions.list(sync.id, run.id)).data).toEqual([])
})

it.each(cases)('%s of %s in Remit: waits %s', async (gone, all, waits) => {
	const ids: string[] = []
	for (let n = 0; n < all; n++) ids.push((await tenant.remit.companies.create({ name: `C${n}`, domain: `c${n}.example` })).id)
	const sync = await newSync(server, tenant, await crm.connect(tenant), toCrm, { deletePolicy: 'delete' })
	await sync.run()
	for (const id of ids.slice(0, gone)) await tenant.remit.companies.delete(id)
	const run = await sync.run()
	expect([run.status, crm.firms.size]).toEqual(waits ? ['waiting', all] : ['succeeded', all - gone])
	const { data } = await tenant.remit.syncs.runs.deletions.list(sync.id, run.id, { limit: 100 })
	expect(data.map(({ recordId }) => recordId).toSorted()).toEqual(waits ? ids.slice(0, gone).toSorted() : [])
})

it('What the provider has again when somebody confirms it stays', async () => {
	const put = (key: string, gone: boolean) => crm.put(key, { www: `f${key}.example`, ...{ gone: gone || null } })
	for (const key of ['1', '2', '3']) put(key, false)
	const sync = await newSync(server, tenant, await crm.connect(tenant, { deletedField: 'gone' }), fromCrm, {
		deletePolicy: 'delete',
	})
	await sync.run()
	for (const key of ['1', '2', '3']) put(key, true)
	const run = await sync.run('full')
	expect(run).toMatchObject({ status: 'waiting', error: { code: 'too_many_deletions' } })
	put('2', false)
	await tenant.remit.syncs.runs.confirm(sync.id, run.id)
	expect(counts(await sync.finish())).toMatchObject({ deleted: 2 })
	expect((await tenant.remit.companies.list()).data).toMatchObject([{ domain: 'f2.example' }])
})

it('Who says no cancels the run: nothing is deleted, and the next run asks again', async () => {
	for (const key of ['1', '2', '3']) crm.put(key, { www: `f${key}.example` })
	const sync = await newSync(server, tenant, await crm.connect(tenant), fromCrm, { deletePolicy: 'delete' })
	await sync.run()
	crm.firms.clear()
	await sync.run('full')
	await tenant.remit.syncs.cancel(sync.id)
	await server.runJobs()
	expect([(await sync.lastRun()).status, (await tenant.remit.companies.list()).meta.total]).toEqual(['cancelled', 3])
	expect(await sync.run('full')).toMatchObject({ status: 'waiting', error: { code: 'too_many_deletions' } })
})

it('The only record there is may go, where the provider still lists another one', async () => {
	crm.put('1', { www: 'one.example' })
	const sync = await newSync(server, tenant, await crm.connect(tenant), fromCrm, { deletePolicy: 'delete' })
	await sync.run()
	crm.firms.delete('1')
	crm.put('2', { www: 'two.example' })
	expect(counts(await sync.run('full'))).toEqual({ read: 1, created: 1, deleted: 1 })
})
