// What a run says that it has read: each record once, also when it was broken off.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { newPeopleSync } from '../../../test/people-api.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { readCompanies } from '../../billing/companies/store.ts'

let server: TestServer
let provider: FakeProvider
beforeAll(async () => {
	provider = await new FakeProvider().start()
	server = await startTestServer()
})
afterAll(async () => {
	await server.close()
	await provider.stop()
})

const people = Array.from({ length: 400 }, (_, index) => ({ id: index + 1, name: `Person ${index + 1}` }))

it('A page that is broken off twice, the second time before where it had been, is counted once', async () => {
	const tenant = await server.newTenant()
	provider.answers(people)
	const { id } = await newPeopleSync(tenant, provider.url)
	const { db } = server
	const transaction = db.transaction.bind(db)
	/** By the attempts so far, how many transactions of the run come to their end once 100 companies are there. */
	const lasting = [0, 4]
	let left = lasting.shift()
	const spy = vi.spyOn(db, 'transaction').mockImplementation(async (work, options) => {
		if (left !== undefined && options?.organizationId === tenant.organizationId) {
			const page = { sortBy: 'name', sortOrder: 'asc', limit: 1, offset: 0 } as const
			const { total } = await readCompanies(db, tenant.organizationId, page)
			if (total >= 100 && left-- === 0) {
				left = lasting.shift()
				throw new Error('the database is gone for a moment')
			}
		}
		return transaction(work, options)
	})
	await tenant.remit.syncs.run(id)
	const last = async () => (await tenant.remit.syncs.runs.list(id, { limit: 1 })).data[0]
	for (let tries = 0; tries < 9 && (await last())?.finishedAt === null; tries++) {
		await server.runJobs()
		server.clock.now += 600_000
	}
	spy.mockRestore()
	expect(lasting).toEqual([])
	expect(await last()).toMatchObject({ status: 'succeeded', progress: { read: people.length } })
})
