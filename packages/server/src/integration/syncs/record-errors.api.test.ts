// Records that fail again and again are as many errors as there are records, and each run says what failed in it.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { newPeopleSync } from '../../../test/people-api.ts'
import { FakeProvider } from '../../../test/provider.ts'
import type { SyncRun } from '../../generated/contract.ts'
import { query } from '../../platform/db/database.ts'

const dayMs = 86_400_000
let server: TestServer
let tenant: Tenant
let provider: FakeProvider
let id: string
beforeAll(async () => {
	provider = await new FakeProvider().start()
	server = await startTestServer()
})
afterAll(async () => {
	await server.close()
	await provider.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	provider.answers({})
	id = (await newPeopleSync(tenant, provider.url)).id
})

const run = async (people: object[], mode?: 'failed'): Promise<SyncRun> => {
	provider.answers(people)
	server.clock.now += 1_000
	await tenant.remit.syncs.run(id, mode && { mode })
	await server.runJobs()
	return (await tenant.remit.syncs.runs.list(id, { limit: 1 })).data[0] as SyncRun
}
const errorsOf = async (runId: string) => (await tenant.remit.syncs.runs.errors.list(id, runId)).data
const failedIn = async (runId: string) => (await errorsOf(runId)).map(({ externalId }) => externalId).toSorted()
const rows = query<{ organizationId: string }>((knex, key) => knex('sync_record_errors').where(key).select('id'))
const stored = async () => (await server.db.all(rows, { organizationId: tenant.organizationId })).length
const [bad, good] = [(n: number) => ({ id: n, name: '' }), (n: number) => ({ id: n, name: `P${n}` })]

it('A record that fails in each run is one error, which each of the runs has', async () => {
	const runs: SyncRun[] = []
	for (let n = 0; n < 5; n++) runs.push(await run([good(1), bad(2), bad(3)]))
	expect(await stored()).toBe(2)
	const [first, last] = [runs[0] as SyncRun, runs[4] as SyncRun]
	for (const { id: runId, progress } of runs) {
		expect(progress.failed).toBe(2)
		const { data, meta } = await tenant.remit.syncs.runs.errors.list(id, runId)
		expect([data.map(({ externalId }) => externalId), meta.total]).toEqual([['2', '3'], 2])
	}
	const times = { createdAt: first.startedAt, lastFailedAt: last.startedAt }
	expect(await errorsOf(first.id)).toMatchObject([{ count: 5, runId: last.id, ...times, resolvedAt: null }, {}])
})

it('A run has no error of what failed before it or after it alone', async () => {
	const first = await run([bad(1), bad(2), bad(3)])
	const second = await run([bad(1), good(2)])
	const third = await run([bad(1), bad(2), bad(3)])
	expect(await failedIn(third.id)).toEqual(['1', '2', '3'])
	expect(await failedIn(second.id)).toEqual(['1'])
	expect(await failedIn(first.id)).toEqual(['1', '2', '3'])
	const [two] = (await errorsOf(first.id)).filter(({ externalId }) => externalId === '2')
	expect(two).toMatchObject({ count: 1, resolvedAt: second.startedAt, runId: first.id })
	// What the second run did not meet was gone: that it fails later is another error.
	expect(await stored()).toBe(5)
})

it('An error says what the last run said that failed with the record', async () => {
	const first = await run([bad(1)])
	await run([{ id: 1, name: 'x'.repeat(5_000) }])
	expect(await errorsOf(first.id)).toMatchObject([{ count: 2, errors: [{ field: 'name', code: 'maxLength' }] }])
})

it('What is still an error is kept for as long as it is one, and what was resolved for 90 days', async () => {
	await run([bad(1), bad(2)])
	await run([bad(1), good(2), { name: 'Nobody' }])
	expect(await stored()).toBe(3)
	server.clock.now += 91 * dayMs
	await server.runJobs()
	expect(await stored()).toBe(1)
	const last = await run([good(1)], 'failed')
	expect(last.progress).toMatchObject({ created: 1 })
})

it('The errors of a sync that was deleted go after 90 days', async () => {
	await run([bad(1), bad(2)])
	await tenant.remit.syncs.delete(id)
	server.clock.now += 91 * dayMs
	await server.runJobs()
	expect(await stored()).toBe(0)
})

it('An error shows the value at fault, cut, and none of a field that may be a secret', async () => {
	const key = secret('key-of-somebody-else-')
	const secretly = { target: 'phone', source: 'apiKey' }
	const { mappingId } = await tenant.remit.syncs.get(id)
	const fields = [{ target: 'name', source: 'name' }, { target: 'billingEmail', source: 'contact.mail' }, secretly]
	await tenant.remit.mappings.update(mappingId, { fields })
	await run([
		{ id: 1, name: 'A', contact: { mail: 'no address' } },
		{ id: 2, name: 'x'.repeat(5_000) },
		{ id: 3, name: 'C', apiKey: key.repeat(100) },
	])
	const { data } = await tenant.remit.syncs.errors.list(id)
	const values = data.map(({ externalId, errors }) => [externalId, errors[0]?.field, errors[0]?.value])
	expect(values).toEqual([
		['1', 'billingEmail', 'no address'],
		['2', 'name', 'x'.repeat(200)],
		['3', 'phone', undefined],
	])
	expect(JSON.stringify(data)).not.toContain(key)
})

it('An error of a record without an id says where it is', async () => {
	await run([good(1), { name: 'Nobody' }])
	const [error] = (await tenant.remit.syncs.errors.list(id)).data
	expect(error?.errors).toMatchObject([{ code: 'invalid_id', reason: 'The record has no id. It is number 2 on page 1.' }])
})
