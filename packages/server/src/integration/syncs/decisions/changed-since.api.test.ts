// A decision is about what was shown: what has changed since then on either side is a conflict anew, and nothing of it is lost.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { newSync, type Settings, type TestSync } from '../../../../test/syncs.ts'
import type { MappingCreate } from '../../../generated/contract.ts'

const { server, tenant, crm } = useCrm()

type More = Settings & { reverse?: MappingCreate }
const both = { reverse: toCrm }
const deleting = { deletePolicy: 'delete' } as const

const open = async ({ id }: TestSync) => (await tenant.remit.syncs.errors.list(id)).data
async function theError(sync: TestSync) {
	const [error, second] = await open(sync)
	expect(second).toBeUndefined()
	expect(error).toMatchObject({ errors: [{ code: 'conflict' }] })
	return error as NonNullable<typeof error>
}
const decide = async (sync: TestSync, use: 'source' | 'target') =>
	tenant.remit.syncs.errors.resolve(sync.id, (await theError(sync)).id, { use })
const put = (firm: object) => crm.put('7', { www: 'seven.example', ...firm })
const update = (id: string, phone: string) => tenant.remit.companies.update(id, { phone })
const isHere = async (id: string) => (await tenant.ask('GET', `/api/companies/${id}`)).status === 200

/** A conflict of firm 7 and its company, after something has happened to both, found by a run. */
async function conflict(
	settings: More,
	happens: (id: string) => unknown,
	mode: 'incremental' | 'full' = 'incremental',
	object = {},
) {
	put({ phone: '1' })
	crm.put('8', { www: 'eight.example' })
	const connectionId = await crm.connect(tenant, object)
	const sync = await newSync(server, tenant, connectionId, fromCrm, { conflictPolicy: 'manual', ...settings })
	await sync.run()
	const { recordId } = await tenant.remit.syncs.links.get(sync.id, '7')
	await happens(recordId)
	await sync.run(mode)
	return { sync, recordId }
}

/** A new conflict with what both have now, which can be decided. */
async function expectAnew(sync: TestSync, difference: object) {
	const error = await theError(sync)
	expect(error).toMatchObject({ decision: null, resolvedAt: null })
	expect(error.errors[0]?.differences).toContainEqual(expect.objectContaining(difference))
	return error
}

for (const [ways, settings] of [
	['one way', {}],
	['both ways', both],
] as const)
	for (const mode of ['incremental', 'full', 'failed'] as const)
		for (const use of ['source', 'target'] as const) {
			const changed = async (id: string) => {
				put({ phone: 'theirs' })
				await update(id, 'ours')
			}

			it(`What is changed here after it was shown is not decided: ${ways}, ${mode}, for the ${use}`, async () => {
				const { sync, recordId } = await conflict(settings, changed)
				await update(recordId, 'ours, later')
				await decide(sync, use)
				await sync.run(mode)
				expect([crm.firms.get('7')?.phone, (await tenant.remit.companies.get(recordId)).phone]).toEqual(['theirs', 'ours, later'])
				await expectAnew(sync, { provider: 'theirs', remit: 'ours, later' })
				await decide(sync, use)
				expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
				const phone = use === 'source' ? 'theirs' : 'ours, later'
				expect((await tenant.remit.companies.get(recordId)).phone).toBe(phone)
				expect([await open(sync), crm.firms.get('7')?.phone]).toEqual([[], 'reverse' in settings ? phone : 'theirs'])
			})

			it(`What is changed there after it was decided is a conflict anew: ${ways}, ${mode}, for the ${use}`, async () => {
				const { sync, recordId } = await conflict(settings, changed)
				await decide(sync, use)
				put({ phone: 'theirs, later' })
				await sync.run(mode)
				expect([crm.firms.get('7')?.phone, (await tenant.remit.companies.get(recordId)).phone]).toEqual(['theirs, later', 'ours'])
				await expectAnew(sync, { provider: 'theirs, later', remit: 'ours' })
			})
		}

for (const [how, object] of [
	['can be asked for', {}],
	['cannot be asked for', { readPath: undefined }],
] as const)
	it.each(['source', 'target'] as const)(
		`What was deleted there is not deleted here once it has changed again: a record that ${how}, for the %s`,
		async (use) => {
			const { sync, recordId } = await conflict(
				{ ...both, ...deleting },
				async (id) => {
					await update(id, 'ours')
					crm.firms.delete('7')
				},
				'full',
				object,
			)
			// No field of the mapping: with the record it would be lost as well.
			await tenant.remit.companies.update(recordId, { notes: 'Called them.' })
			await decide(sync, use)
			await sync.run('full')
			expect([await isHere(recordId), crm.firms.size]).toEqual([true, 1])
			await expectAnew(sync, { provider: null, remit: 'ours', base: '1' })
			await decide(sync, use)
			expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
			expect([await isHere(recordId), crm.firms.size]).toEqual(use === 'source' ? [false, 1] : [true, 2])
		},
	)

it.each(['source', 'target'] as const)(
	'What was deleted there, where nothing is deleted here, is a conflict anew once it has changed again: for the %s',
	async (use) => {
		const { sync, recordId } = await conflict(both, async (id) => {
			await update(id, 'ours')
			crm.firms.delete('7')
		})
		await decide(sync, use)
		await update(recordId, 'ours, later')
		await sync.run()
		expect(crm.firms.size).toBe(1)
		await expectAnew(sync, { provider: null, remit: 'ours, later' })
	},
)

it.each(['source', 'target'] as const)('What returned there after it was shown is a conflict anew: for the %s', async (use) => {
	const { sync, recordId } = await conflict(both, async (id) => {
		await update(id, 'ours')
		crm.firms.delete('7')
	})
	put({ phone: 'theirs' })
	await decide(sync, use)
	await sync.run()
	expect([crm.firms.get('7')?.phone, (await tenant.remit.companies.get(recordId)).phone]).toEqual(['theirs', 'ours'])
	expect((await open(sync)).filter(({ direction }) => direction === 'inbound')).toMatchObject([
		{ externalId: '7', decision: null },
	])
})

it.each(['source', 'target'] as const)(
	'What was deleted here is not deleted there once it has changed again: for the %s',
	async (use) => {
		const { sync, recordId } = await conflict({ ...both, ...deleting }, async (id) => {
			await tenant.remit.companies.delete(id)
			put({ phone: 'theirs' })
		})
		await decide(sync, use)
		put({ phone: 'theirs, later' })
		await sync.run()
		expect([await isHere(recordId), crm.firms.get('7')?.phone]).toEqual([false, 'theirs, later'])
		await expectAnew(sync, { provider: 'theirs, later', remit: null })
	},
)

it.each(['source', 'target'] as const)('A sync that only goes out is asked anew as well: for the %s', async (use) => {
	put({ phone: 'theirs' })
	const ours = await tenant.remit.companies.create({ name: 'Firm 7', domain: 'seven.example', phone: 'ours' })
	const sync = await newSync(server, tenant, await crm.connect(tenant), toCrm, { conflictPolicy: 'manual' })
	await sync.run()
	await decide(sync, use)
	put({ phone: 'theirs, later' })
	await sync.run()
	expect(crm.firms.get('7')?.phone).toBe('theirs, later')
	await expectAnew(sync, { provider: 'theirs, later', remit: 'ours' })
	await sync.run('full')
	expect(crm.firms.get('7')?.phone).toBe('theirs, later')
	await update(ours.id, 'ours, later')
	await decide(sync, use)
	await sync.run()
	await expectAnew(sync, { provider: 'theirs, later', remit: 'ours, later' })
	await decide(sync, use)
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect(crm.firms.get('7')?.phone).toBe(use === 'source' ? 'ours, later' : 'theirs, later')
	// Both have been alike, or were decided: a conflict that comes later goes by what was written last.
	put({ phone: 'theirs, last' })
	await update(ours.id, 'ours, last')
	await sync.run()
	await decide(sync, 'source')
	put({ phone: 'theirs, very last' })
	await sync.run()
	await expectAnew(sync, { provider: 'theirs, very last', remit: 'ours, last' })
	await decide(sync, 'source')
	crm.firms.delete('7')
	await sync.run()
	await expectAnew(sync, { provider: null, remit: 'ours, last' })
	expect(crm.firms.size).toBe(0)
})

it('A company that goes out where no record can be asked for is asked for anew when it has changed', async () => {
	put({ phone: 'theirs' })
	const { id } = await tenant.remit.companies.create({ name: 'Firm 7', domain: 'seven.example', phone: 'ours' })
	const connectionId = await crm.connect(tenant, { readPath: undefined })
	const sync = await newSync(server, tenant, connectionId, toCrm, { conflictPolicy: 'manual' })
	await sync.run()
	await decide(sync, 'source')
	await update(id, 'ours, later')
	await sync.run()
	expect(crm.writes).toEqual([])
	await expectAnew(sync, { provider: 'theirs', remit: 'ours, later' })
	await decide(sync, 'source')
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect(crm.firms.get('7')?.phone).toBe('ours, later')
})

it('A decision that names the version it is about is rejected at once when a run has found another', async () => {
	const { sync, recordId } = await conflict({}, async (id) => {
		put({ phone: 'theirs' })
		await update(id, 'ours')
	})
	const shown = await theError(sync)
	const version = shown.errors[0]?.version as string
	await sync.run('full')
	expect((await theError(sync)).errors[0]?.version).toBe(version)
	await update(recordId, 'ours, later')
	await sync.run('full')
	const path = `/syncs/${sync.id}/errors/${shown.id}/resolve`
	const answer = await tenant.ask('POST', path, { body: { use: 'source', version } })
	expect(answer).toMatchObject({ status: 409, body: { code: 'conflict_changed' } })
	const now = (await theError(sync)).errors[0]?.version as string
	expect(await tenant.ask('POST', path, { body: { use: 'source', version: now } })).toMatchObject({ status: 200 })
	await sync.run()
	expect((await tenant.remit.companies.get(recordId)).phone).toBe('theirs')
})
