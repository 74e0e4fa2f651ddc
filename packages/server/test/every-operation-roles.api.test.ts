// What each role may do, and from where: for every operation of the contract, a person's session gets what the contract says, and a
// page of another site, or nobody, gets nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyScopes } from '../src/generated/tables.ts'
import { leastRole, roles } from '../src/platform/auth/roles.ts'
import { newToken } from '../src/platform/auth/session-cookie.ts'
import { type Operation, operations } from '../src/platform/contract/routes.ts'
import { startTestServer, type Tenant, type TestPerson, type TestServer } from './harness.ts'
import { newRequest, pathOf } from './samples.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const isSuccess = (status: number) => status >= 200 && status < 300

/** The record of the operations that members and managers may call about themselves alone, where the samples are about others. */
const own: Record<string, (person: TestPerson) => Promise<string>> = {
	'users.update': async ({ id }) => id,
	'sessions.delete': async (person) => (await person.ask('GET', '/api/session')).body.data.id,
}

/** What browsers say of a request that a page of another origin makes; the last is of an older browser. */
const fromElsewhere = [
	{ 'sec-fetch-site': 'cross-site' },
	{ 'sec-fetch-site': 'same-site' },
	{ 'sec-fetch-site': 'none' },
	{ 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1' },
	{ origin: 'https://evil.example' },
	{ origin: 'null' },
	{},
]

/** As a browser sends it: with a cookie, and with nothing that the tests' own client adds. */
async function send({ method }: Operation, path: string, body: object | undefined, headers: Record<string, string>) {
	const type = body && { 'content-type': 'application/json' }
	const answer = await fetch(server.url + path, {
		method,
		headers: { ...type, ...headers },
		...(body && { body: JSON.stringify(body) }),
	})
	const text = await answer.text()
	return { status: answer.status, code: answer.ok ? undefined : JSON.parse(text).code, id: answer.headers.get('x-request-id') }
}

describe.each(operations.filter(({ public: isPublic }) => !isPublic))('$id', (operation) => {
	let tenant: Tenant
	beforeAll(async () => {
		tenant = await server.newTenant()
	})
	const least = leastRole(operation)
	const isAllowed = (role: (typeof roles)[number]) => roles.indexOf(role) >= roles.indexOf(least)

	it(`is for the role ${least} and those above it, from a page of the server alone`, async () => {
		const { path, body } = await newRequest(operation, tenant)
		const refused: (string | null)[] = []
		for (const role of roles.filter((lower) => !isAllowed(lower))) {
			const answer = await (await tenant.newPerson(role)).ask(operation.method, path, { body })
			expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
			expect(answer.body.detail).toBe(`This takes the role ${least}, and yours is ${role}.`)
			refused.push(answer.headers.get('x-request-id'))
		}
		const { cookie } = await tenant.newPerson()
		for (const headers of operation.method === 'GET' ? [] : fromElsewhere) {
			const { id, ...answer } = await send(operation, path, body, { cookie, ...headers } as Record<string, string>)
			expect(answer).toEqual({ status: 403, code: 'cross_site_request' })
			refused.push(id)
		}
		const ofPage = { 'sec-fetch-site': 'same-origin' }
		for (const [sent, code] of [
			[{}, 'missing_credentials'],
			[{ cookie: `remit=${newToken()}` }, 'session_ended'],
		] as const) {
			const { id, ...answer } = await send(operation, path, body, { ...ofPage, ...sent })
			expect(answer).toEqual({ status: 401, code })
			refused.push(id)
		}
		const { data } = (await tenant.ask('GET', '/api/audit?limit=100')).body
		expect(data.filter(({ requestId }: { requestId: string }) => refused.includes(requestId))).toEqual([])
		for (const [index, role] of roles.filter(isAllowed).reverse().entries()) {
			const person = await tenant.newPerson(role)
			const of = role === 'admin' ? undefined : own[operation.aliasOf ?? operation.id]
			// The first is the request that the others were refused: it was left as it was.
			const asked = index === 0 ? { path, body } : await newRequest(operation, tenant)
			const at = of ? pathOf(operation, await of(person)) : asked.path
			const sent = of && asked.body ? { name: 'Augusta' } : asked.body
			const { status, body: answered } = await person.ask(operation.method, at, { body: sent })
			expect(isSuccess(status) || status === 302, `${role}: ${status} ${JSON.stringify(answered)}`).toBe(true)
		}
	})
})

it('Each scope is of one role and those above it', () => {
	const least = Object.groupBy(keyScopes, (scope) => leastRole({ scopes: [scope] }))
	expect(least).toEqual({
		member: expect.arrayContaining(['read', 'invoices:write', 'payments:write', 'tax_rates:read', 'organization:read']),
		manager: ['write', 'tax_rates:write'],
		admin: expect.arrayContaining(['admin', 'organization:write']),
	})
})
