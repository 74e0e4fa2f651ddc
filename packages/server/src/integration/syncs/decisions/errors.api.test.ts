// The open errors of a sync, and the conflicts among them that somebody decides.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { counts, newSync, type Settings, type TestSync } from '../../../../test/syncs.ts'
import type { MappingCreate } from '../../../generated/contract.ts'

const { server, tenant, crm } = useCrm()

const start = async (settings: Settings & { reverse?: MappingCreate } = {}, mapping = fromCrm, object = {}) =>
	newSync(server, tenant, await crm.connect(tenant, object), mapping, settings)
const open = async ({ id }: TestSync) => (await tenant.remit.syncs.errors.list(id)).data
const openCount = async ({ id }: TestSync) => (await tenant.remit.syncs.get(id)).openErrors
const codeOf = async (path: string, body: object) => {
	const answer = await tenant.ask('POST', path, { body })
	return [answer.status, answer.body.code]
}

it('All that failed and was not written since is listed and counted, whatever run it failed in', async () => {
	const sync = await start()
	expect([await openCount(sync), await open(sync)]).toEqual([0, []])
	for (const key of ['1', '2', '3']) crm.put(key, { www: `c${key}.example`, title: null })
	await sync.run()
	crm.put('1', { www: 'c1.example', title: 'One' })
	crm.put('4', { www: 'c4.example', phone: 'x'.repeat(2_000) })
	const last = await sync.run()
	expect((await open(sync)).map(({ externalId }) => externalId)).toEqual(['2', '3', '4'])
	expect(await openCount(sync)).toBe(3)
	const { data, meta } = await tenant.remit.syncs.errors.list(sync.id, { limit: 2 })
	expect([data.length, meta.total, meta.hasMore]).toEqual([2, 3, true])
	const rest = await tenant.remit.syncs.errors.list(sync.id, { limit: 2, cursor: meta.nextCursor as string })
	expect(rest.data).toMatchObject([{ externalId: '4', runId: last.id }])
	const [two] = data
	expect(await tenant.remit.syncs.errors.get(sync.id, two?.id as string)).toEqual(two)
	crm.firms.delete('2')
	crm.put('3', { www: 'c3.example', title: 'Three' })
	expect(counts(await sync.run('failed'))).toEqual({ read: 3, created: 1, skipped: 1, failed: 1 })
	expect([await openCount(sync), (await open(sync)).map(({ externalId }) => externalId)]).toEqual([1, ['4']])
})

it('Open errors are found by what is wrong with them, their way and their record, page by page', async () => {
	const sync = await start()
	for (const key of ['a', 'b', 'c', 'd']) crm.put(key, { www: `${key}.filters.example`, title: null })
	crm.put('e', { www: 'e.filters.example', title: 'E', phone: 'x'.repeat(2_000) })
	await sync.run()
	const codes = (await open(sync)).flatMap(({ errors }) => errors.map(({ code }) => code))
	const [missing, other] = [codes[0], codes.at(-1)]
	expect(other).not.toBe(missing)
	const find = async (query: object) =>
		(await tenant.remit.syncs.errors.list(sync.id, query)).data.map(({ externalId }) => externalId)
	expect(await find({ code: missing })).toEqual(['a', 'b', 'c', 'd'])
	expect(await find({ code: other, direction: 'inbound' })).toEqual(['e'])
	expect(await find({ code: other, direction: 'outbound' })).toEqual([])
	expect([await find({ externalId: 'c' }), await find({ externalId: 'c', code: other })]).toEqual([['c'], []])
	expect(await find({ recordId: 'cmp_none' })).toEqual([])
	const { data, meta } = await tenant.remit.syncs.errors.list(sync.id, { code: missing, limit: 3 })
	expect([data.length, meta.hasMore]).toEqual([3, true])
	expect(await find({ code: missing, cursor: meta.nextCursor })).toEqual(['d'])
	expect(await tenant.ask('GET', `/syncs/${sync.id}/errors?cursor=${meta.nextCursor}`)).toMatchObject({ status: 400 })
	expect(await tenant.ask('GET', `/syncs/${sync.id}/errors?direction=up`)).toMatchObject({ status: 400 })
})

it.each([
	['can be asked for', {}],
	['cannot be asked for', { readPath: undefined }],
])('A full run closes the error of a record that %s, once it is gone', async (_, object) => {
	const sync = await start({}, fromCrm, object)
	for (const key of ['1', '2']) crm.put(key, { www: `c${key}.example`, title: null })
	await sync.run()
	crm.firms.delete('2')
	expect(counts(await sync.run('full'))).toEqual({ read: 2, failed: 1, skipped: 1 })
	expect((await open(sync)).map(({ externalId, count }) => [externalId, count])).toEqual([['1', 2]])
})

it('An error of another sync, or of none, is not there', async () => {
	crm.put('1', { www: 'c1.example', title: null })
	const [sync, other] = [await start(), await start()]
	await sync.run()
	const [error] = await open(sync)
	for (const path of [`${other.id}/errors/${error?.id}`, `${sync.id}/errors/rer_none`]) {
		expect(await tenant.ask('GET', `/syncs/${path}`)).toMatchObject({ status: 404, body: { code: 'sync_error_not_found' } })
		expect(await codeOf(`/syncs/${path}/resolve`, { use: 'source' })).toEqual([404, 'sync_error_not_found'])
	}
	expect(await tenant.ask('GET', '/syncs/syn_none/errors')).toMatchObject({ status: 404, body: { code: 'sync_not_found' } })
})

/** Ours and theirs, after both have changed. */
async function inConflict(settings: Settings & { reverse?: MappingCreate } = {}, object = {}) {
	crm.put('7', { www: 'seven.example', phone: '1' })
	const sync = await start({ conflictPolicy: 'manual', ...settings }, fromCrm, object)
	await sync.run()
	const [company] = (await tenant.remit.companies.list()).data
	crm.put('7', { www: 'seven.example', phone: 'theirs' })
	await tenant.remit.companies.update(company?.id as string, { phone: 'ours' })
	await sync.run()
	const [error] = await open(sync)
	expect(error).toMatchObject({ errors: [{ code: 'conflict' }], decision: null })
	const phones = async () => [crm.firms.get('7')?.phone, (await tenant.remit.companies.get(company?.id as string)).phone]
	return { sync, error: error as NonNullable<typeof error>, phones }
}

it.each([
	['source', ['theirs', 'theirs']],
	['target', ['theirs', 'ours']],
] as const)('A conflict is decided for the %s, and the next run writes it so', async (use, both) => {
	const { sync, error, phones } = await inConflict()
	const decided = await tenant.remit.syncs.errors.resolve(sync.id, error.id, { use })
	expect(decided).toEqual({ ...error, decision: use })
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect([await phones(), await openCount(sync)]).toEqual([both, 0])
	expect(counts(await sync.run('full'))).toEqual({ read: 1, unchanged: 1 })
	expect(await tenant.remit.syncs.errors.get(sync.id, error.id)).toMatchObject({ resolvedAt: expect.any(Number) })
	expect(await codeOf(`/syncs/${sync.id}/errors/${error.id}/resolve`, { use })).toEqual([409, 'nothing_to_resolve'])
	const entry = (await tenant.remit.syncs.history(sync.id)).data.find(({ action }) => action === 'conflict_resolved')
	expect(entry).toMatchObject({ operation: 'syncs.errors.resolve', after: { externalId: '7', use } })
	// What changes on both sides later is a conflict of its own.
	crm.put('7', { www: 'seven.example', phone: 'theirs again' })
	await tenant.remit.companies.update(error.recordId as string, { phone: 'ours again' })
	await sync.run()
	expect(await open(sync)).toMatchObject([{ errors: [{ code: 'conflict' }], decision: null }])
})

it.each([
	['source', 'incremental', 'theirs'],
	['target', 'incremental', 'ours'],
	['source', 'failed', 'theirs'],
	['target', 'failed', 'ours'],
	['source', 'full', 'theirs'],
	['target', 'full', 'ours'],
] as const)(
	'Both ways, a conflict that is decided for the %s is written on both sides by an %s run',
	async (use, mode, phone) => {
		const { sync, phones } = await inConflict({ reverse: toCrm })
		for (const { id, direction } of await open(sync))
			if (direction === 'inbound') await tenant.remit.syncs.errors.resolve(sync.id, id, { use })
		await sync.run(mode)
		expect([await phones(), await openCount(sync)]).toEqual([[phone, phone], 0])
		crm.writes.length = 0
		await sync.run('full')
		expect([crm.writes, await phones()]).toEqual([[], [phone, phone]])
	},
)

it.each(['source', 'target'] as const)('A first link that differs is decided for the %s', async (use) => {
	crm.put('7', { www: 'seven.example', phone: 'theirs' })
	const { id } = await tenant.remit.companies.create({ name: 'Seven', domain: 'seven.example', phone: 'ours' })
	const sync = await start({ conflictPolicy: 'manual' })
	await sync.run()
	const [error] = await open(sync)
	await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use })
	expect(await tenant.remit.syncs.links.get(sync.id, '7')).toMatchObject({ recordId: id })
	await sync.run()
	expect([(await tenant.remit.companies.get(id)).phone, await openCount(sync)]).toEqual([use === 'source' ? 'theirs' : 'ours', 0])
})

it.each([
	['source', 'ours'],
	['target', 'theirs'],
] as const)('A record that goes out and differs there is decided for the %s', async (use, phone) => {
	crm.put('7', { www: 'seven.example', phone: 'theirs' })
	await tenant.remit.companies.create({ name: 'Seven', domain: 'seven.example', phone: 'ours' })
	const sync = await start({ conflictPolicy: 'manual' }, toCrm)
	await sync.run()
	const [error] = await open(sync)
	expect(error).toMatchObject({ direction: 'outbound', externalId: '7', errors: [{ code: 'conflict' }] })
	await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use })
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	expect([crm.firms.get('7')?.phone, await openCount(sync)]).toEqual([phone, 0])
	crm.writes.length = 0
	await sync.run('full')
	expect(crm.writes).toEqual([])
})

it.each([
	['can be asked for', {}],
	['cannot be asked for', { readPath: undefined }],
])('A conflict of a deletion is decided, of a record that %s', async (_, object) => {
	for (const use of ['source', 'target'] as const) {
		crm.clear()
		for (const key of ['8', '9']) crm.put(key, { www: `c${key}.example` })
		const sync = await start({ conflictPolicy: 'manual', deletePolicy: 'delete' }, fromCrm, object)
		await sync.run()
		const { recordId } = await tenant.remit.syncs.links.get(sync.id, '8')
		await tenant.remit.companies.update(recordId, { phone: 'ours' })
		crm.firms.delete('8')
		await sync.run('full')
		const [error] = await open(sync)
		await tenant.remit.syncs.errors.resolve(sync.id, error?.id as string, { use })
		await sync.run('full')
		const isThere = (await tenant.ask('GET', `/api/companies/${recordId}`)).status === 200
		expect([isThere, await openCount(sync)]).toEqual([use === 'target', 0])
		expect((await tenant.remit.syncs.links.list(sync.id, { recordId })).data).toEqual([])
		if (isThere) await tenant.remit.companies.delete(recordId)
		expect(await sync.run('full')).toMatchObject({ status: 'succeeded' })
	}
})

it.each([
	['source', 200],
	['target', 404],
] as const)('A company that is deleted meanwhile is a conflict of its own: decided for the %s, it is %s', async (use, status) => {
	const { sync, error } = await inConflict()
	await tenant.remit.companies.delete(error.recordId as string)
	await tenant.remit.syncs.errors.resolve(sync.id, error.id, { use })
	await sync.run()
	expect(await open(sync)).toMatchObject([{ decision: null, errors: [{ differences: [{ field: 'phone', remit: null }] }] }])
	await tenant.remit.syncs.errors.resolve(sync.id, error.id, { use })
	await sync.run()
	expect([(await tenant.ask('GET', `/api/companies/${error.recordId}`)).status, await openCount(sync)]).toEqual([status, 0])
	expect(counts(await sync.run())).not.toHaveProperty('failed')
})

it('Until it is done a decision can be taken back, and nothing else can be decided', async () => {
	const { sync, error, phones } = await inConflict()
	const { errors } = tenant.remit.syncs
	await errors.resolve(sync.id, error.id, { use: 'target' })
	await errors.resolve(sync.id, error.id, { use: 'source' })
	await sync.run('failed')
	expect(await phones()).toEqual(['theirs', 'theirs'])
	crm.put('8', { www: 'c8.example', title: null })
	await sync.run()
	const [other] = await open(sync)
	const path = `/syncs/${sync.id}/errors/${other?.id}/resolve`
	expect(await codeOf(path, { use: 'source' })).toEqual([409, 'nothing_to_resolve'])
	expect(await codeOf(path, { use: 'newest' })).toEqual([400, 'invalid_request'])
	await tenant.remit.syncs.run(sync.id)
	expect(await codeOf(path, { use: 'source' })).toEqual([409, 'sync_already_running'])
	await sync.finish()
})
