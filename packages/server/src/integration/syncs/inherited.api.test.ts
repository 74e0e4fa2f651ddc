// A sync that is made anew goes on with the links of the one before it, and deletes nothing by them that nobody has confirmed.
import { beforeEach, expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../test/crm.ts'
import { counts, newSync } from '../../../test/syncs.ts'
import type { MappingCreate } from '../../generated/contract.ts'

const { server, tenant, crm } = useCrm()
beforeEach(() => {
	for (let n = 1; n <= 3; n++) crm.put(String(n), { www: `c${n}.example` })
})

/** A sync after another one of the same connection, which has run and was deleted. */
async function madeAnew(mapping: MappingCreate, object: object = {}) {
	const connectionId = await crm.connect(tenant, object)
	const first = await newSync(server, tenant, connectionId, mapping, { deletePolicy: 'delete' })
	await first.run()
	await tenant.remit.syncs.delete(first.id)
	server.clock.now += 1_000
	return newSync(server, tenant, connectionId, mapping, { deletePolicy: 'delete' })
}

it.each([
	['all are on one page', {}, 1],
	['two passes have to miss it', { readPath: undefined, pagination: { style: 'page', parameter: 'page' } }, 2],
])('What only an earlier sync has linked is deleted after a confirmation, where %s', async (_, object, passes) => {
	crm.pages = passes === 2
	const sync = await madeAnew(fromCrm, object)
	crm.firms.delete('1')
	for (let n = 1; n < passes; n++) expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
	const run = await sync.run('full')
	crm.pages = false
	expect(run).toMatchObject({
		status: 'waiting',
		error: { code: 'too_many_deletions', detail: expect.stringContaining('before this sync was made') },
	})
	expect((await tenant.remit.companies.list()).meta.total).toBe(3)
	crm.pages = passes === 2
	await tenant.remit.syncs.runs.confirm(sync.id, run.id)
	expect(counts(await sync.finish())).toMatchObject({ deleted: 1 })
	crm.firms.delete('2')
	const runs = []
	for (let n = 0; n < passes; n++) runs.push(await sync.run('full'))
	crm.pages = false
	expect(runs.at(-1)).toMatchObject({ status: 'succeeded', progress: { deleted: 1 } })
})

it('What was deleted in Remit before a sync was made is deleted at the provider after a confirmation', async () => {
	crm.firms.clear()
	const made = []
	for (let n = 0; n < 2; n++) made.push(await tenant.remit.companies.create({ name: `C${n}`, domain: `c${n}.example` }))
	const sync = await madeAnew(toCrm)
	await tenant.remit.companies.delete(made[0]?.id as string)
	const run = await sync.run()
	expect(run).toMatchObject({ status: 'waiting', error: { code: 'too_many_deletions' } })
	expect(crm.firms.size).toBe(2)
	await tenant.remit.syncs.runs.confirm(sync.id, run.id)
	await sync.finish()
	await tenant.remit.companies.delete(made[1]?.id as string)
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect(crm.firms.size).toBe(0)
})

it('Links go with their connection, and those of another one stay', async () => {
	const syncs = []
	for (let n = 0; n < 2; n++) syncs.push(await newSync(server, tenant, await crm.connect(tenant), fromCrm))
	for (const sync of syncs) await sync.run()
	const [gone, kept] = syncs.map(({ connectionId }) => connectionId)
	await tenant.remit.connections.delete(gone as string)
	server.clock.now += 2 * 86_400_000
	await server.runJobs()
	const totals = await Promise.all(syncs.map(async ({ id }) => (await tenant.remit.syncs.links.list(id)).meta.total))
	expect([kept === gone, totals]).toEqual([false, [0, 3]])
})
