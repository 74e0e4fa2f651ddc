// The API for managing keys: what the server shows and stores of a key, which scopes a key may pass on, and how a key ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import type { Scope } from '../../platform/auth/keys.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const create = (body: object, key?: string): Promise<Answer> => tenant.ask('POST', '/api-keys', { body, ...(key && { key }) })
const made = async (scopes: readonly Scope[] = ['read'], more: object = {}): Promise<{ id: string; key: string }> =>
	(await create({ name: 'CI', scopes, ...more })).body
const works = async (key: string) => (await tenant.ask('GET', '/api/invoices', { key })).status !== 401
const listed = async (id: string) => {
	const { data } = (await tenant.ask('GET', '/api-keys?limit=100')).body
	return data.find((key: { id: string }) => key.id === id)
}

describe('a new key', () => {
	it('is shown once, works at once, and is listed without its secret', async () => {
		const { id, key } = await made(['invoices:read'], { name: 'Reports' })
		expect(await works(key)).toBe(true)
		const found = await listed(id)
		expect(found).toEqual({
			id,
			organizationId: tenant.organizationId,
			name: 'Reports',
			lastFour: key.slice(-4),
			scopes: ['invoices:read'],
			resources: null,
			createdBy: { type: 'api_key', id: expect.stringMatching(/^key_/) },
			createdAt: server.clock.now,
			expiresAt: null,
			lastUsedAt: null,
			revokedAt: null,
		})
	})

	it('says who made it: a person, the holder of a key, also by a rotation, or nobody when a command did', async () => {
		const person = await tenant.newPerson()
		const byPerson = (await person.ask('POST', '/api-keys', { body: { name: 'CI', scopes: ['admin', 'read'] } })).body
		const byKey = await create({ name: 'CI', scopes: ['read'] }, byPerson.key)
		const rotated = (await tenant.ask('POST', `/api-keys/${byKey.body.id}/rotate`, { key: byPerson.key, body: {} })).body
		const byCommand = await tenant.newKey(['read'])
		expect((await listed(byPerson.id)).createdBy).toEqual({ type: 'user', id: person.id })
		for (const { id } of [byKey.body, rotated]) expect((await listed(id)).createdBy).toEqual({ type: 'api_key', id: byPerson.id })
		expect((await listed(byCommand.id)).createdBy).toBeNull()
	})

	it('is never stored in plain text, not even in the answer that an Idempotency-Key repeats', async () => {
		const headers = { 'idempotency-key': 'the key' }
		const body = { name: 'CI', scopes: ['read'] }
		const first = await tenant.ask('POST', '/api-keys', { body, headers })
		expect((await tenant.ask('POST', '/api-keys', { body, headers })).body).toEqual(first.body)
		const kept = query<object, { body: string }>((knex) => knex('idempotency_keys').select('body'))
		for (const row of await server.db.all(kept, {})) expect(row.body).not.toContain(first.body.key)
	})

	it('works until it expires', async () => {
		const { key } = await made(['invoices:read'], { expiresAt: server.clock.now + 60_000 })
		expect(await works(key)).toBe(true)
		server.clock.now += 60_000
		expect(await works(key)).toBe(false)
	})

	it('cannot expire before it begins, and needs known scopes', async () => {
		expect(await create({ name: 'CI', scopes: ['read'], expiresAt: server.clock.now })).toMatchObject({
			status: 422,
			body: { code: 'expires_in_past', errors: [{ pointer: '/expiresAt' }] },
		})
		for (const [scopes, pointer] of [
			[[], '/scopes'],
			[['root'], '/scopes/0'],
			[['read', 'invoices:admin'], '/scopes/1'],
		]) {
			expect(await create({ name: 'CI', scopes })).toMatchObject({ status: 400, body: { errors: [{ pointer }] } })
		}
	})
})

describe('a key that creates keys', () => {
	it('can give away only scopes that it has itself', async () => {
		const { key } = await made(['admin', 'invoices:write'])
		expect((await create({ name: 'CI', scopes: ['read', 'write', 'admin', 'invoices:read'] }, key)).status).toBe(201)
		const refused = await create({ name: 'CI', scopes: ['read', 'companies:read', 'invoices:write', 'deals:write'] }, key)
		expect(refused).toMatchObject({
			status: 403,
			body: { code: 'insufficient_scope', errors: [{ pointer: '/scopes/1' }, { pointer: '/scopes/3' }] },
		})
	})

	it('can create and rotate only keys that expire no later than itself', async () => {
		const end = server.clock.now + 60_000
		const { id, key } = await made(['admin'], { expiresAt: end })
		const refused = { status: 403, body: { code: 'insufficient_scope', errors: [{ pointer: '/expiresAt' }] } }
		for (const expiresAt of [undefined, null, end + 1])
			expect(await create({ name: 'CI', scopes: ['read'], expiresAt }, key)).toMatchObject(refused)
		expect((await create({ name: 'CI', scopes: ['read'], expiresAt: end }, key)).status).toBe(201)
		const { id: lasting } = await made(['read'])
		expect(await tenant.ask('POST', `/api-keys/${lasting}/rotate`, { key })).toMatchObject(refused)
		const rotated = await tenant.ask('POST', `/api-keys/${id}/rotate`, { key, body: { overlapSeconds: 30 } })
		expect((await listed(rotated.body.id)).expiresAt).toBe(end)
		expect((await create({ name: 'CI', scopes: ['read'], expiresAt: end }, key)).status).toBe(403)
	})

	it('is an admin key: read and write are not enough', async () => {
		const { key } = await made(['read', 'write'])
		expect((await create({ name: 'CI', scopes: ['read'] }, key)).status).toBe(403)
		expect((await tenant.ask('GET', '/api-keys', { key })).status).toBe(403)
	})

	it('sees only the keys of its organization', async () => {
		const other = await server.newTenant()
		const { data, meta } = (await other.ask('GET', '/api-keys')).body
		expect(data).toHaveLength(1)
		expect(meta).toEqual({ total: 1, limit: 50, offset: 0, hasMore: false, nextCursor: null })
	})
})

describe('revoking a key', () => {
	it('ends it at once, shows when, and can be done once', async () => {
		const { id, key } = await made(['invoices:read'])
		expect(await works(key)).toBe(true)
		expect((await tenant.ask('DELETE', `/api-keys/${id}`)).body).toEqual({ ok: true })
		expect(await works(key)).toBe(false)
		expect(await listed(id)).toMatchObject({ revokedAt: server.clock.now })
		expect(await tenant.ask('DELETE', `/api-keys/${id}`)).toMatchObject({ status: 404, body: { code: 'api_key_not_found' } })
	})
})

describe('rotating a key', () => {
	it('gives a new one with the same name and scopes; the old one works through the overlap', async () => {
		const { id, key } = await made(['invoices:read'], { name: 'Reports' })
		const { status, body } = await tenant.ask('POST', `/api-keys/${id}/rotate`, { body: { overlapSeconds: 60 } })
		expect(status).toBe(201)
		expect(await listed(body.id)).toMatchObject({ name: 'Reports', scopes: ['invoices:read'], expiresAt: null })
		expect([await works(key), await works(body.key)]).toEqual([true, true])
		server.clock.now += 60_000
		expect([await works(key), await works(body.key)]).toEqual([false, true])
	})

	it('without a body overlaps for a day, but never beyond the old key’s expiry', async () => {
		const { id } = await made()
		await tenant.ask('POST', `/api-keys/${id}/rotate`)
		expect((await listed(id)).expiresAt).toBe(server.clock.now + 86_400_000)
		const end = server.clock.now + 1_000
		const short = await made(['read'], { expiresAt: end })
		const { body } = await tenant.ask('POST', `/api-keys/${short.id}/rotate`)
		expect([(await listed(short.id)).expiresAt, (await listed(body.id)).expiresAt]).toEqual([end, end])
	})

	it('is rejected for a key that no longer works, and for one with more scopes than the caller', async () => {
		const { id } = await made()
		await tenant.ask('DELETE', `/api-keys/${id}`)
		expect((await tenant.ask('POST', `/api-keys/${id}/rotate`)).status).toBe(404)
		const { id: strong } = await made(['companies:write'])
		const { key: admin } = await made(['admin'])
		expect((await tenant.ask('POST', `/api-keys/${strong}/rotate`, { key: admin })).status).toBe(403)
	})
})

describe('an organization', () => {
	it('has at most 100 keys that work, also when it makes them at once; others do not count', async () => {
		const tenant = await server.newTenant()
		const body = { name: 'CI', scopes: ['read'] }
		const revoked = await tenant.newKey(['read'])
		await tenant.ask('DELETE', `/api-keys/${revoked.id}`)
		await tenant.newKey(['read'], { expiresAt: server.clock.now })
		server.clock.now += 60_000
		// With the tenant's own.
		const keys: { id: string }[] = []
		while (keys.length < 94) keys.push(await tenant.newKey(['read']))
		const answers = await Promise.all(Array.from({ length: 10 }, () => tenant.ask('POST', '/api-keys', { body })))
		expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(201), ...Array(5).fill(409)])
		const rejected = answers.find(({ status }) => status === 409)
		expect(rejected?.body).toMatchObject({ code: 'too_many_api_keys', detail: expect.stringContaining('100') })

		const [first, second] = keys as [{ id: string }, { id: string }]
		const rotate = (id: string, body?: object) => tenant.ask('POST', `/api-keys/${id}/rotate`, { body })
		const again = () => tenant.ask('POST', '/api-keys', { body })
		expect((await rotate(first.id)).body.code).toBe('too_many_api_keys')
		// A key that has ended counts while the minute lasts in which it made requests.
		expect((await rotate(first.id, { overlapSeconds: 0 })).body.code).toBe('too_many_api_keys')
		await tenant.ask('DELETE', `/api-keys/${second.id}`)
		expect((await again()).body.code).toBe('too_many_api_keys')
		server.clock.now += 60_000
		expect((await again()).status).toBe(201)
		expect((await again()).body.code).toBe('too_many_api_keys')
	})
})
