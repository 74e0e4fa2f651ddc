// What is kept for an Idempotency-Key goes after a day. test/writes.api.test.ts covers what callers see of a key.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../test/harness.ts'
import { query } from '../db/database.ts'
import { keepMs } from './idempotency.ts'
import { keepAnswer } from './idempotency-store.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const kept = query<{ organizationId: string }, { idempotencyKey: string }>((knex, { organizationId }) =>
	knex('idempotency_keys').where({ organizationId }).select('idempotencyKey'),
)

it('the answers of a day ago are removed, in more parts than one, and no other one', async () => {
	const tenant = await server.newTenant()
	const post = async (idempotencyKey: string) => {
		const headers = { 'Idempotency-Key': idempotencyKey }
		expect((await tenant.ask('POST', '/api/companies', { headers, body: { name: 'Acme' } })).status).toBe(201)
	}
	await post('first')
	const createdAt = server.clock.now
	const answer = { requestHash: '', status: 201, headers: {}, body: '', createdAt }
	await server.db.transaction(async (tx) => {
		for (let n = 0; n < 450; n++) {
			const key = { organizationId: tenant.organizationId, keyId: `key_${n % 3}`, operationId: `op_${n % 2}` }
			await keepAnswer(tx, { ...key, ...answer, idempotencyKey: `key ${n}` })
		}
	})
	server.clock.now += 1
	await post('second')
	const count = async () => (await server.db.all(kept, { organizationId: tenant.organizationId })).length
	const countAt = async (now: number) => {
		server.clock.now = now
		await server.runJobs()
		return count()
	}
	expect(await countAt(createdAt + keepMs - 1)).toBe(452)
	expect(await countAt(createdAt + keepMs)).toBe(1)
	expect(await countAt(createdAt + keepMs + 3_599_999)).toBe(1)
	expect(await countAt(createdAt + keepMs + 3_600_000)).toBe(0)
	await post('third')
	expect(await countAt(createdAt + 3 * keepMs)).toBe(0)
})
