// Failures to sign in as a person from many places. On SQLite alone: it takes a hundred hashes.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { personPassword, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer({ TRUST_PROXY: 1 })
	tenant = await server.newTenant()
})
afterAll(() => server.close())

it('A person signs in where they did before, however often strangers fail, who open nothing by a sign-in of their own', {
	timeout: 60_000,
}, async () => {
	const [victim, other] = [await tenant.newPerson(), await server.newTenant()]
	const { url } = (await other.ask('POST', '/api/invitations', { body: { email: victim.email, role: 'member' } })).body
	const body = { token: url.split('#')[1], name: 'Mallory', password: secret('of-mallory') }
	const [home, stranger] = ['192.0.2.1', '198.51.100.99'].map((address) => ({ 'x-forwarded-for': address }))
	await server.ask('POST', '/api/invitations/accept', { key: null, body, headers: stranger })
	const tried = async (password: string, headers = {}, organizationId?: string) => {
		const { email } = victim
		return (await server.ask('POST', '/api/session', { key: null, body: { email, password, organizationId }, headers })).status
	}
	expect(await tried(personPassword, home)).toBe(201)
	for (let place = 0; place < 10; place++) {
		const from = { 'x-forwarded-for': `198.51.100.${place}` }
		const failing = Array.from({ length: 10 }, () => tried(secret('wrong'), from, tenant.organizationId))
		expect(new Set(await Promise.all(failing))).toEqual(new Set([401]))
	}
	expect(await tried(personPassword)).toBe(429)
	expect(await tried(personPassword, stranger)).toBe(401)
	expect(await tried(secret('of-mallory'), stranger)).toBe(201)
	expect(await tried(personPassword, home)).toBe(201)
	expect(await tried(secret('wrong'), home)).toBe(401)
})
