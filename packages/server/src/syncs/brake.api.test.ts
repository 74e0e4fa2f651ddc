// How many records may be deleted at once before somebody has to confirm it.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type CrmServer, fromCrm, startWithCrm, toCrm } from '../../test/crm.ts'
import type { Tenant } from '../../test/harness.ts'
import { counts, newSync } from '../../test/syncs.ts'

let server: CrmServer
let tenant: Tenant
let crm: CrmServer['crm']
beforeAll(async () => {
	server = await startWithCrm()
	;({ crm } = server)
})
afterAll(() => server.close())
beforeEach(async () => {
	tenant = await server.newTenant()
	crm.clear()
})

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
	await tenant.remit.syncs.runs.confirm(sync.id, run.id)
	expect(counts(await sync.finish())).toMatchObject({ deleted: gone })
})

it.each(cases)('%s of %s in Remit: waits %s', async (gone, all, waits) => {
	const ids: string[] = []
	for (let n = 0; n < all; n++) ids.push((await tenant.remit.companies.create({ name: `C${n}`, domain: `c${n}.example` })).id)
	const sync = await newSync(server, tenant, await crm.connect(tenant), toCrm, { deletePolicy: 'delete' })
	await sync.run()
	for (const id of ids.slice(0, gone)) await tenant.remit.companies.delete(id)
	const run = await sync.run()
	expect([run.status, crm.firms.size]).toEqual(waits ? ['waiting', all] : ['succeeded', all - gone])
})

it('The only record there is may go, where the provider still lists another one', async () => {
	crm.put('1', { www: 'one.example' })
	const sync = await newSync(server, tenant, await crm.connect(tenant), fromCrm, { deletePolicy: 'delete' })
	await sync.run()
	crm.firms.delete('1')
	crm.put('2', { www: 'two.example' })
	expect(counts(await sync.run('full'))).toEqual({ read: 1, created: 1, deleted: 1 })
})
