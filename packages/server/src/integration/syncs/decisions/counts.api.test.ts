// What a run counts of records that it meets in several ways: each once.
import { beforeEach, expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { counts, newSync, type TestSync } from '../../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()

/** Asked for what has changed since a time, this provider lists everything. */
const listsAll = { changedField: 'modified', sinceParameter: 'since' }
const put = (id: string, phone: string) =>
	crm.put(id, { www: `c${id}.example`, phone, modified: '2026-01-01T00:00:00Z' } as never)
const decide = async ({ id }: TestSync, use: 'source' | 'target') => {
	const [error] = (await tenant.remit.syncs.errors.list(id)).data
	await tenant.remit.syncs.errors.resolve(id, error?.id as string, { use })
}

beforeEach(() => {
	for (const id of ['7', '8']) put(id, '1')
})

for (const mode of ['incremental', 'full'] as const)
	it(`A record of which a caller has decided something, and that is listed as well, is one: ${mode}`, async () => {
		const sync = await newSync(server, tenant, await crm.connect(tenant, listsAll), fromCrm, { conflictPolicy: 'manual' })
		await sync.run()
		const { recordId } = await tenant.remit.syncs.links.get(sync.id, '7')
		put('7', 'theirs')
		await tenant.remit.companies.update(recordId, { phone: 'ours' })
		await sync.run()
		await decide(sync, 'source')
		put('7', 'theirs, later')
		expect(counts(await sync.run(mode))).toEqual({ read: 2, failed: 1, unchanged: 1 })
		await decide(sync, 'source')
		expect(counts(await sync.run(mode))).toEqual({ read: 2, updated: 1, unchanged: 1 })
	})

for (const mode of ['incremental', 'full'] as const)
	it(`A company made anew, in conflict with the firm of the one before, is one failure: ${mode}`, async () => {
		const settings = { conflictPolicy: 'manual', deletePolicy: 'delete', reverse: toCrm } as const
		const sync = await newSync(server, tenant, await crm.connect(tenant, listsAll), fromCrm, settings)
		await sync.run()
		await tenant.remit.companies.delete((await tenant.remit.syncs.links.get(sync.id, '7')).recordId)
		await tenant.remit.companies.create({ name: 'Anew', domain: 'c7.example' })
		expect((await sync.run(mode)).progress).toMatchObject({ failed: 1, skipped: 0 })
		expect(counts(await sync.run('incremental'))).toEqual({ read: 2, failed: 1, unchanged: 1 })
	})
