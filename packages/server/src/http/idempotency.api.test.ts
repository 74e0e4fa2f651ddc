// What is kept for an Idempotency-Key goes after a day. test/writes.api.test.ts covers what callers see of a key.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../test/harness.ts'
import { query } from '../db/database.ts'
import { keepMs, sweepIdempotencyKeys } from './idempotency.ts'
import { keepAnswer } from './idempotency-store.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const kept = query<{ organizationId: string }, { idempotencyKey: string }>((knex, { organizationId }) =>
	knex('idempotency_keys').where({ organizationId }).select('idempotencyKey'),
)

it('the answers of a day ago are removed in parts, and no other one', async () => {
	const [tenant, other] = [await server.newTenant(), await server.newTenant()]
	const now = 10 * keepMs
	const keep = (count: number, createdAt: number, { organizationId }: Tenant = tenant) =>
		server.db.transaction(async (tx) => {
			const answer = { requestHash: '', status: 201, headers: {}, body: '', createdAt }
			for (let n = 0; n < count; n++) {
				const key = { organizationId, keyId: `key_${n % 3}`, operationId: `op_${n % 2}`, idempotencyKey: `${createdAt} ${n}` }
				await keepAnswer(tx, { ...key, ...answer })
			}
		})
	const countOf = async ({ organizationId }: Tenant) => (await server.db.all(kept, { organizationId })).length
	const sweep = async () => [await sweepIdempotencyKeys(server.db, tenant.organizationId, now), await countOf(tenant)]

	await keep(450, now - keepMs)
	await keep(5, now - keepMs + 1)
	await keep(5, now - keepMs, other)
	expect([await sweep(), await sweep(), await sweep(), await sweep()]).toEqual([
		[true, 255],
		[true, 55],
		[false, 5],
		[false, 5],
	])
	expect(await countOf(other)).toBe(5)
})
