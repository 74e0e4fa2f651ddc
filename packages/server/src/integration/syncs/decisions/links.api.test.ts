// Two records are linked by hand, and the next run keeps them in step.
import { expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../../test/crm.ts'
import { counts, newSync, type Settings } from '../../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()

const newInbound = async (settings: Settings = {}, object = {}) =>
	newSync(server, tenant, await crm.connect(tenant, object), fromCrm, settings)
const newCompany = async (name: string, more: object = {}) => (await tenant.remit.companies.create({ name, ...more })).id
const mistakeOf = async (syncId: string, body: object) => {
	const answer = await tenant.ask('POST', `/syncs/${syncId}/links`, { body })
	return [answer.status, answer.body.code, answer.body.errors?.[0]?.pointer]
}

it('An error names the records that match, and a link says which one it is', async () => {
	crm.put('7', { www: 'two.example', phone: '1' })
	const ids = []
	for (const name of ['One', 'Two']) ids.push(await newCompany(name, { domain: 'two.example' }))
	const sync = await newInbound()
	await sync.run()
	const [error] = (await tenant.remit.syncs.errors.list(sync.id)).data
	expect(error).toMatchObject({ externalId: '7', errors: [{ code: 'several_matches', candidates: expect.arrayContaining(ids) }] })
	const [, chosen = ''] = ids
	const link = await tenant.remit.syncs.links.create(sync.id, { externalId: '7', recordId: chosen })
	expect(link).toMatchObject({ externalId: '7', recordId: chosen, object: 'firms', state: 'linked', lastSeenAt: null })
	const run = await sync.run()
	expect([run.status, (await tenant.remit.syncs.get(sync.id)).openErrors]).toEqual(['succeeded', 0])
	expect(await tenant.remit.companies.get(chosen)).toMatchObject({ name: 'Firm 7', phone: '1' })
	expect((await tenant.remit.companies.list()).meta.total).toBe(2)
	expect(counts(await sync.run('full'))).toEqual({ read: 1, unchanged: 1 })
	const { data } = await tenant.remit.syncs.history(sync.id)
	const after = { externalId: '7', object: 'firms', recordId: chosen }
	expect(data.find(({ action }) => action === 'linked')).toMatchObject({ operation: 'syncs.links.create', after })
})

it('Of more than ten that match, ten are named', async () => {
	crm.put('7', { www: 'many.example' })
	for (let n = 0; n < 12; n++) await newCompany(`C${n}`, { domain: 'many.example' })
	const sync = await newInbound()
	await sync.run()
	const [error] = (await tenant.remit.syncs.errors.list(sync.id)).data
	expect(error?.errors[0]?.candidates).toHaveLength(10)
})

it('What cannot be linked is an error that names it', async () => {
	for (const key of ['1', '2']) crm.put(key, { www: `c${key}.example` })
	const sync = await newInbound()
	await sync.run()
	const recordId = await newCompany('Free')
	const linked = (await tenant.remit.syncs.links.get(sync.id, '1')).recordId
	expect(await mistakeOf(sync.id, { externalId: '404', recordId })).toEqual([422, 'invalid_sync_link', '/externalId'])
	expect(await mistakeOf(sync.id, { externalId: '1', recordId: 'cmp_none' })).toEqual([422, 'invalid_sync_link', '/recordId'])
	const { id: invoiceId } = await tenant.remit.invoices.create({})
	expect(await mistakeOf(sync.id, { externalId: '1', recordId: invoiceId })).toEqual([422, 'invalid_sync_link', '/recordId'])
	expect(await mistakeOf(sync.id, { externalId: '1', recordId })).toEqual([409, 'linked_already', undefined])
	crm.put('3', { www: 'c3.example' })
	expect(await mistakeOf(sync.id, { externalId: '3', recordId: linked })).toEqual([409, 'linked_already', undefined])
	expect(await mistakeOf(sync.id, { externalId: '1', recordId: linked })).toEqual([409, 'linked_already', undefined])
	expect(await mistakeOf(sync.id, { externalId: '', recordId })).toEqual([400, 'invalid_request', '/externalId'])
	expect(await mistakeOf(sync.id, { externalId: '\ud800', recordId })).toEqual([400, 'invalid_request', '/externalId'])
	expect(await mistakeOf(sync.id, { externalId: '..', recordId })).toEqual([422, 'invalid_sync_link', '/externalId'])
	await tenant.remit.syncs.run(sync.id)
	expect(await mistakeOf(sync.id, { externalId: '3', recordId })).toEqual([409, 'sync_already_running', undefined])
	await sync.finish()
})

it('A request that is repeated with its key links once', async () => {
	crm.put('1', { www: 'one.example' })
	const sync = await newInbound()
	const body = { externalId: '1', recordId: await newCompany('One') }
	const ask = () => tenant.ask('POST', `/syncs/${sync.id}/links`, { body, headers: { 'Idempotency-Key': 'once' } })
	const [first, second] = [await ask(), await ask()]
	expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true'])
	expect(first.headers.get('location')).toBe(`/syncs/${sync.id}/links/1`)
	expect(second.body).toEqual(first.body)
})

it('Where the provider answers no record alone, a full run compares both', async () => {
	crm.put('1', { www: 'one.example', phone: '9' })
	const sync = await newInbound({}, { readPath: undefined })
	const recordId = await newCompany('Other')
	await tenant.remit.syncs.links.create(sync.id, { externalId: '1', recordId })
	expect(counts(await sync.run('full'))).toEqual({ read: 1, updated: 1 })
	expect(await tenant.remit.companies.get(recordId)).toMatchObject({ phone: '9' })
})

it.each([
	['source_wins', 'theirs', 'theirs'],
	['target_wins', 'ours', 'ours'],
] as const)('Both ways, by %s: both sides have it after one run', async (conflictPolicy, ...both) => {
	crm.put('1', { www: 'one.example', phone: 'theirs' })
	const connectionId = await crm.connect(tenant)
	const sync = await newSync(server, tenant, connectionId, fromCrm, { reverse: toCrm, conflictPolicy })
	const recordId = await newCompany('Ours', { phone: 'ours' })
	await tenant.remit.syncs.links.create(sync.id, { externalId: '1', recordId })
	for (const mode of ['incremental', 'incremental'] as const) {
		expect(await sync.run(mode)).toMatchObject({ status: 'succeeded' })
		expect([crm.firms.get('1')?.phone, (await tenant.remit.companies.get(recordId)).phone]).toEqual(both)
	}
	expect(crm.firms.size).toBe(1)
})

it('A company that goes out is linked by hand, and the policy decides', async () => {
	for (const key of ['1', '2']) crm.put(key, { www: 'same.example', phone: `of ${key}` })
	const recordId = await newCompany('Same', { domain: 'same.example', phone: 'ours' })
	const sync = await newSync(server, tenant, await crm.connect(tenant), toCrm, { conflictPolicy: 'target_wins' })
	await sync.run()
	const [error] = (await tenant.remit.syncs.errors.list(sync.id)).data
	expect(error).toMatchObject({ direction: 'outbound', errors: [{ code: 'several_matches', candidates: ['1', '2'] }] })
	await tenant.remit.syncs.links.create(sync.id, { externalId: '2', recordId })
	expect(counts(await sync.run())).toEqual({ read: 1, skipped: 1 })
	expect([crm.writes, (await tenant.remit.syncs.get(sync.id)).openErrors]).toEqual([[], 0])
	await tenant.remit.companies.update(recordId, { phone: 'ours, again' })
	await sync.run()
	expect(crm.writes).toEqual(['PATCH 2'])
})
