// A company that was deleted in Remit, by mistake, and made anew is linked in its place.
import { beforeEach, expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../test/crm.ts'
import { counts, newSync, type Settings } from '../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()
let id: string
let anew: string
beforeEach(() => {
	for (const key of ['1', '2', '3', '4']) crm.put(key, { www: `c${key}.example` })
})

const companies = async () => (await tenant.remit.companies.list({ limit: 100 })).data
const create = async (name = 'Anew') => (await tenant.remit.companies.create({ name, domain: 'c1.example' })).id
const errors = async ({ id: syncId }: { id: string }) => (await tenant.remit.syncs.errors.list(syncId)).data

async function afterFirstRun(settings: Settings & { object?: object } = {}, reverse: typeof toCrm | null = toCrm) {
	const { object, ...rest } = settings
	const options = { deletePolicy: 'delete', ...rest, ...(reverse && { reverse }) } as const
	const sync = await newSync(server, tenant, await crm.connect(tenant, object), fromCrm, options)
	await sync.run()
	id = (await companies()).find(({ domain }) => domain === 'c1.example')?.id as string
	crm.writes.length = 0
	return sync
}

/** Two-way, with a company that was deleted and made anew; `theirs`: what its firm was called meanwhile. */
async function madeAnew(settings: Settings & { object?: object } = {}, theirs?: string) {
	const sync = await afterFirstRun(settings)
	await tenant.remit.companies.delete(id)
	anew = await create()
	if (theirs !== undefined) crm.put('1', { www: 'c1.example', title: theirs })
	return sync
}

/** One company and one firm, linked, both called so, and nothing left to do. */
async function expectOnePair(sync: Awaited<ReturnType<typeof madeAnew>>, name: string) {
	const live = (await companies()).filter(({ domain }) => domain === 'c1.example')
	expect(live).toMatchObject([{ id: anew, name }])
	expect([...crm.firms.values()].filter(({ www }) => www === 'c1.example')).toMatchObject([{ id: '1', title: name }])
	expect(await tenant.remit.syncs.links.get(sync.id, '1')).toMatchObject({ recordId: anew, state: 'linked' })
	expect(await errors(sync)).toEqual([])
	crm.writes.length = 0
	for (const mode of ['full', 'incremental', 'full'] as const)
		expect(counts(await sync.run(mode))).not.toMatchObject({ failed: expect.anything() })
	expect(crm.writes).toEqual([])
	expect((await companies()).filter(({ domain }) => domain === 'c1.example')).toHaveLength(1)
}

for (const mode of ['incremental', 'full'] as const)
	for (const theirs of ['Theirs', undefined]) {
		const firm = theirs ? 'changed' : 'unchanged'

		it(`A company made anew takes what its firm has where the source wins: ${firm}, ${mode}`, async () => {
			const sync = await madeAnew({ conflictPolicy: 'source_wins' }, theirs)
			expect((await sync.run(mode)).status).toBe('succeeded')
			expect(crm.writes).toEqual([])
			await expectOnePair(sync, theirs ?? 'Firm 1')
		})

		it(`Its firm takes what it has where the target wins: ${firm}, ${mode}`, async () => {
			const sync = await madeAnew({ conflictPolicy: 'target_wins' }, theirs)
			expect((await sync.run(mode)).status).toBe('succeeded')
			expect(crm.writes).toEqual(['PATCH 1'])
			await expectOnePair(sync, 'Anew')
		})

		for (const use of ['source', 'target'] as const)
			it(`Where nobody wins it is one conflict, that a caller decides for the ${use}: ${firm}, ${mode}`, async () => {
				const sync = await madeAnew({ conflictPolicy: 'manual' }, theirs)
				await sync.run(mode)
				await sync.run(mode)
				const [error, second] = await errors(sync)
				expect(second).toBeUndefined()
				expect(error).toMatchObject({ direction: 'inbound', externalId: '1', recordId: anew, errors: [{ code: 'conflict' }] })
				expect(crm.writes).toEqual([])
				await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use })
				await sync.run('incremental')
				await expectOnePair(sync, use === 'source' ? (theirs ?? 'Firm 1') : 'Anew')
			})
	}

for (const use of ['source', 'target'] as const)
	it(`A conflict over a deletion that is decided for the ${use} is one anew, about the company made anew since`, async () => {
		const sync = await afterFirstRun({ conflictPolicy: 'manual' })
		await tenant.remit.companies.delete(id)
		crm.put('1', { www: 'c1.example', title: 'Theirs' })
		await sync.run()
		const [error] = await errors(sync)
		await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use })
		anew = await create()
		await sync.run()
		expect(await errors(sync)).toMatchObject([{ id: error?.id, recordId: anew, decision: null, errors: [{ code: 'conflict' }] }])
		expect([crm.writes, (await tenant.remit.companies.get(anew)).name]).toEqual([[], 'Anew'])
		await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use })
		await sync.run()
		await expectOnePair(sync, use === 'source' ? 'Theirs' : 'Anew')
	})

it('What is left at the provider is linked with a company made anew as well', async () => {
	const sync = await madeAnew({ deletePolicy: 'ignore' })
	await sync.run()
	await expectOnePair(sync, 'Firm 1')
})

it('A company made anew while the run waits for a word on its deletions is linked', async () => {
	const sync = await afterFirstRun()
	for (const company of await companies()) if (company.domain !== 'c4.example') await tenant.remit.companies.delete(company.id)
	const { id: runId, status } = await sync.run()
	expect(status).toBe('waiting')
	anew = await create()
	await tenant.remit.syncs.runs.confirm(sync.id, runId)
	await sync.finish()
	expect(crm.writes.toSorted()).toEqual(['DELETE 2', 'DELETE 3'])
	await sync.run()
	await expectOnePair(sync, 'Firm 1')
})

for (const keepSeen of [true, false])
	it(`A company that was made before the other was deleted is linked in its place: last records kept ${keepSeen}`, async () => {
		const sync = await afterFirstRun({ keepSeen })
		anew = await create()
		expect(counts(await sync.run())).toMatchObject({ failed: 1 })
		await tenant.remit.companies.delete(id)
		await sync.run()
		expect(crm.writes).toEqual([])
		await sync.run()
		await expectOnePair(sync, 'Firm 1')
	})

it('A firm that cannot be written to the company made anew stays as it is until it is mended', async () => {
	const sync = await madeAnew({}, '')
	for (let n = 0; n < 3; n++) expect((await sync.run()).status).toBe('partially_succeeded')
	expect(await errors(sync)).toMatchObject([{ externalId: '1', errors: [{ field: 'name' }] }])
	expect(crm.writes).toEqual([])
	crm.put('1', { www: 'c1.example', title: 'Mended' })
	await sync.run()
	await expectOnePair(sync, 'Mended')
})

it('Of several that were made anew none is linked', async () => {
	const sync = await madeAnew()
	await create('Another')
	await sync.run()
	expect(crm.firms.has('1')).toBe(false)
})

it('One way, a company made anew is linked when its firm changes', async () => {
	const sync = await afterFirstRun({}, null)
	await tenant.remit.companies.delete(id)
	anew = await create()
	expect(counts(await sync.run('full'))).toMatchObject({ unchanged: 4 })
	crm.put('1', { www: 'c1.example', title: 'Theirs' })
	await sync.run()
	await expectOnePair(sync, 'Theirs')
})

for (const deletePolicy of ['delete', 'ignore'] as const)
	for (const mode of ['incremental', 'full'] as const)
		for (const conflictPolicy of ['source_wins', 'target_wins', 'manual'] as const)
			it(`A company made anew that only goes out keeps the firm of the one before: ${conflictPolicy}, ${deletePolicy}, ${mode}`, async () => {
				crm.clear()
				const settings = { conflictPolicy, deletePolicy } as const
				const sync = await newSync(server, tenant, await crm.connect(tenant), toCrm, settings)
				id = await create('Before')
				await sync.run()
				const [firm] = [...crm.firms.keys()]
				crm.writes.length = 0
				await tenant.remit.companies.delete(id)
				anew = await create()
				await sync.run(mode)
				if (conflictPolicy === 'manual') {
					expect(await errors(sync)).toMatchObject([{ externalId: firm, recordId: anew, errors: [{ code: 'conflict' }] }])
					expect(crm.writes).toEqual([])
					await tenant.remit.syncs.errors.resolve(sync.id, (await errors(sync))[0]?.id as string, { use: 'source' })
					await sync.run()
				}
				const isOurs = conflictPolicy !== 'target_wins'
				expect([[...crm.firms.values()], await errors(sync)]).toMatchObject([
					[{ id: firm, title: isOurs ? 'Anew' : 'Before' }],
					[],
				])
				expect(crm.writes).toEqual(isOurs ? [`PATCH ${firm}`] : [])
				expect(await tenant.remit.syncs.links.get(sync.id, firm as string)).toMatchObject({ recordId: anew, state: 'linked' })
				expect(counts(await sync.run('full'))).toEqual({ read: 1, unchanged: 1 })
			})
