// Signing in and out with a browser's cookie, and what a session may do.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { personPassword, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { updateLastSeen } from '../../platform/auth/session-store.ts'

const day = 86_400_000

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const signIn = (body: object, headers: Record<string, string> = {}) =>
	server.ask('POST', '/api/session', { key: null, body, headers })

/** The header `Cookie` that a browser sends after this answer. */
const cookieOf = ({ headers }: { headers: Headers }) => (headers.get('set-cookie') ?? '').split(';')[0] as string

const withCookie = (cookie: string, method = 'GET', path = '/api/session', headers = {}, body?: object) =>
	server.ask(method, path, { key: null, headers: { cookie, ...headers }, body })

describe('signing in', () => {
	it('begins a session that says who is signed in and what they may do', async () => {
		const { id, email } = await tenant.newPerson('member')
		const answer = await signIn({ email: email.toUpperCase(), password: personPassword }, { 'user-agent': 'Firefox' })
		expect(answer.status).toBe(201)
		expect(answer.headers.get('set-cookie')).toMatch(/^remit=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/)
		expect(answer.body.data).toMatchObject({ user: { id, email, role: 'member', lastSignInAt: server.clock.now } })
		const session = await withCookie(cookieOf(answer))
		expect(session.body).toEqual(answer.body)
		expect(session.body.data.scopes).toContain('invoices:write')
		expect(session.body.data.scopes).not.toContain('tax_rates:write')
		const { data } = (await withCookie(cookieOf(answer), 'GET', '/api/sessions')).body
		expect(data[0]).toMatchObject({ userId: id, userAgent: 'Firefox', address: '127.0.0.1' })
	})

	it('is always a new session: one that was planted before is not taken', async () => {
		const { email } = await tenant.newPerson()
		const planted = `remit=${'A'.repeat(43)}`
		const answer = await signIn({ email, password: personPassword }, { cookie: planted })
		expect(cookieOf(answer)).not.toBe(planted)
		expect(await withCookie(planted)).toMatchObject({ status: 401, body: { code: 'session_ended' } })
	})

	it('answers the same to a wrong password and an unknown address', async () => {
		const { email } = await tenant.newPerson()
		const bodies = [
			{ email, password: secret('wrong') },
			{ email: 'nobody@people.example', password: secret('wrong') },
			{ email, password: personPassword, organizationId: server.organizationId },
		]
		const timed = async (body: object) => {
			const started = performance.now()
			const answer = await signIn(body)
			return { answer, took: performance.now() - started }
		}
		const tried = await Promise.all(bodies.map(timed))
		// What a hash takes, and how many there were, goes up in the wait.
		for (const { took } of tried) expect(took).toBeGreaterThan(245)
		const answers = tried.map(({ answer }) => answer)
		const said = answers.map(({ status, body: { requestId, ...body }, headers }) => ({
			status,
			body,
			names: [...headers.keys()],
		}))
		expect(said[0]).toMatchObject({ status: 401, body: { code: 'sign_in_failed' } })
		expect(said[1]).toEqual(said[0])
		expect(said[2]).toEqual(said[0])
	})

	it('takes nothing but an address, a password and an organization: no role, and no person', async () => {
		const { id, email } = await tenant.newPerson('member')
		for (const more of [{ role: 'admin' }, { userId: id }, { user: { role: 'admin' } }, { scopes: ['admin'] }]) {
			const { status, body } = await signIn({ email, password: personPassword, ...more })
			expect([status, body.code]).toEqual([400, 'invalid_request'])
		}
	})

	it('is refused after ten failures, with the right password too, whether or not anybody has the address', async () => {
		const { email } = await tenant.newPerson()
		for (const tried of [email, 'nobody-at-all@people.example']) {
			// Many at once are no way around it.
			const answers = await Promise.all(Array.from({ length: 12 }, () => signIn({ email: tried, password: secret('wrong') })))
			expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), 429, 429])
			const began = performance.now()
			const refused = await signIn({ email: tried, password: personPassword })
			expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
			// As every refusal by a limit does.
			expect(performance.now() - began).toBeGreaterThan(240)
			expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
		}
	})

	it('takes the organization that is named, of a person in two, or else the one used last', async () => {
		const other = await server.newTenant()
		const { email } = await tenant.newPerson('member', 'both@people.example')
		await other.newPerson('admin', email)
		const organizationOf = async (organizationId?: string) =>
			(await signIn({ email, password: personPassword, ...(organizationId && { organizationId }) })).body.data.user.organizationId
		server.clock.now += 1_000
		expect(await organizationOf(other.organizationId)).toBe(other.organizationId)
		server.clock.now += 1_000
		expect(await organizationOf(tenant.organizationId)).toBe(tenant.organizationId)
		expect(await organizationOf()).toBe(tenant.organizationId)
	})
})

describe('an address that another organization knows, too', () => {
	it('signs in with the password of either, whoever signed in last', async () => {
		const [victim, other] = [await tenant.newPerson(), await server.newTenant()]
		const { url } = (await other.ask('POST', '/api/invitations', { body: { email: victim.email, role: 'member' } })).body
		const body = { token: url.split('#')[1], name: 'Mallory', password: secret('of-mallory') }
		await server.ask('POST', '/api/invitations/accept', { key: null, body })
		server.clock.now += 1_000
		expect((await signIn({ email: victim.email, password: secret('of-mallory') })).status).toBe(201)
		const own = await signIn({ email: victim.email, password: personPassword })
		expect(own.body.data.user.organizationId).toBe(tenant.organizationId)
	})
})

it('No session of an old password is begun beside its change', async () => {
	const person = await tenant.newPerson()
	const change = { currentPassword: personPassword, password: secret('changed') }
	const [changed, ...begun] = await Promise.all([
		person.ask('POST', '/api/session/password/change', { body: change }),
		...Array.from({ length: 9 }, () => signIn({ email: person.email, password: personPassword })),
	])
	expect(changed?.status).toBe(200)
	const alive = await Promise.all(begun.filter(({ status }) => status === 201).map((answer) => withCookie(cookieOf(answer))))
	expect(alive.filter(({ status }) => status === 200)).toEqual([])
})

describe('a request with a session', () => {
	const change = (headers: Record<string, string>) => (cookie: string) =>
		server.ask('POST', '/api/companies', { key: null, body: { name: 'Acme' }, headers: { cookie, ...headers } })

	it.each([
		['from the same origin', { 'sec-fetch-site': 'same-origin' }, 201],
		['from another origin of the site', { 'sec-fetch-site': 'same-site' }, 403],
		['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
		['that a person typed', { 'sec-fetch-site': 'none' }, 403],
	])('%s may change something or not', async (_, headers, status) => {
		const { cookie } = await tenant.newPerson()
		expect((await change(headers)(cookie)).status).toBe(status)
		expect((await withCookie(cookie, 'GET', '/api/companies', headers)).status).toBe(200)
	})

	it('of an older browser must have the origin of the server', async () => {
		const { cookie } = await tenant.newPerson()
		const ask = (origin?: string) =>
			fetch(`${server.url}/api/companies`, {
				method: 'POST',
				headers: { cookie, 'content-type': 'application/json', ...(origin && { origin }) },
				body: '{"name":"Acme"}',
			})
		expect((await ask(server.url)).status).toBe(201)
		for (const origin of ['https://evil.example', undefined]) {
			const refused = await ask(origin)
			expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, 'cross_site_request'])
		}
	})

	it('is a key’s when it has one, too', async () => {
		const { cookie } = await tenant.newPerson()
		const answer = await server.ask('GET', '/api/companies', { headers: { cookie } })
		expect(answer.body.meta.total).toBe((await server.ask('GET', '/api/companies')).body.meta.total)
		expect(await server.ask('GET', '/api/companies', { key: 'nonsense', headers: { cookie } })).toMatchObject({ status: 401 })
	})

	it.each([{ authorization: 'Basic dXNlcjpwYXNz' }, { 'x-api-key': '' }])(
		'is the session’s beside %j, which a proxy may add',
		async (headers) => {
			const { cookie } = await tenant.newPerson()
			expect((await withCookie(cookie, 'GET', '/api/companies', headers)).status).toBe(200)
			const foreign = { ...headers, 'sec-fetch-site': 'cross-site' }
			expect((await withCookie(cookie, 'POST', '/api/companies', foreign, { name: 'Acme' })).status).toBe(403)
		},
	)

	it('is named in events and in the audit log', async () => {
		const person = await tenant.newPerson('member')
		const { id } = (await person.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body
		const actor = { type: 'user', id: person.id }
		const { data } = (await tenant.ask('GET', `/api/companies/${id}/history`)).body
		expect(data[0]).toMatchObject({ actor, operation: 'companies.create' })
		const events = (await tenant.ask('GET', '/webhooks/events?type=company.created')).body.data
		expect(events.find(({ data }: { data: { id: string } }) => data.id === id)).toMatchObject({ actor })
	})
})

describe('a role', () => {
	it.each([
		['member', 403],
		['manager', 200],
		['admin', 200],
	] as const)('%s may delete an invoice or not', async (role, status) => {
		const { id } = await tenant.remit.invoices.create({})
		const person = await tenant.newPerson(role)
		const answer = await person.ask('DELETE', `/api/invoices/${id}`)
		expect(answer.status).toBe(status)
		if (status === 403) expect(answer.body.detail).toBe('This takes the role manager, and yours is member.')
	})

	it('of a member reads tax rates and keys or not, and makes no key', async () => {
		const member = await tenant.newPerson('member')
		const statuses = await Promise.all([
			member.ask('GET', '/api/tax-rates'),
			member.ask('POST', '/api/tax-rates', { body: { name: 'VAT', percent: '19' } }),
			member.ask('GET', '/api-keys'),
			member.ask('POST', '/api-keys', { body: { name: 'CI', scopes: ['read'] } }),
			member.ask('POST', '/api/pipelines', { body: {} }),
		])
		expect(statuses.map(({ status }) => status)).toEqual([200, 403, 403, 403, 403])
		const manager = await tenant.newPerson('manager')
		expect((await manager.ask('GET', '/api-keys')).status).toBe(200)
		expect((await manager.ask('POST', '/api-keys', { body: { name: 'CI', scopes: ['read'] } })).status).toBe(403)
	})

	it('of a manager reads webhook endpoints, and makes none', async () => {
		const body = { url: 'https://receiver.example/', eventTypes: ['*'] }
		const statuses = await Promise.all(
			(['member', 'manager', 'admin'] as const).map(async (role) => {
				const person = await tenant.newPerson(role)
				const [read, made] = [
					await person.ask('GET', '/webhooks/endpoints'),
					await person.ask('POST', '/webhooks/endpoints', { body }),
				]
				return [read.status, made.status]
			}),
		)
		expect(statuses).toEqual([
			[403, 403],
			[200, 403],
			[200, 201],
		])
	})

	it('of an admin makes a key with every scope, which outlasts the session', async () => {
		const admin = await tenant.newPerson()
		const { scopes } = (await admin.ask('GET', '/api/session')).body.data
		const { key } = (await admin.ask('POST', '/api-keys', { body: { name: 'CI', scopes } })).body
		await admin.ask('DELETE', '/api/session')
		expect((await tenant.ask('GET', '/api/companies', { key })).status).toBe(200)
	})
})

describe('a session', () => {
	it('ends with signing out, which takes the cookie away', async () => {
		const person = await tenant.newPerson()
		const { headers } = await person.ask('DELETE', '/api/session')
		expect(headers.get('set-cookie')).toMatch(/^remit=; Max-Age=0; /)
		expect(headers.get('clear-site-data')).toBe('"cache"')
		expect(await person.ask('GET', '/api/companies')).toMatchObject({ status: 401, body: { code: 'session_ended' } })
	})

	it('is ended by its person or an admin, and by nobody else', async () => {
		const [own, other, admin] = await Promise.all([tenant.newPerson('member'), tenant.newPerson('manager'), tenant.newPerson()])
		const idOf = async (person: typeof own) => (await person.ask('GET', '/api/session')).body.data.id
		const path = `/api/sessions/${await idOf(own)}`
		expect((await other.ask('DELETE', path)).status).toBe(404)
		expect((await other.ask('GET', `/api/sessions?userId=${own.id}`)).body.data).toEqual([])
		expect((await admin.ask('GET', `/api/sessions?userId=${own.id}`)).body.data).toHaveLength(1)
		expect((await admin.ask('DELETE', path)).status).toBe(200)
		expect((await own.ask('GET', '/api/companies')).status).toBe(401)
		expect((await other.ask('DELETE', `/api/sessions/${await idOf(other)}`)).status).toBe(200)
	})

	it('of another organization is not found', async () => {
		const { body } = await (await tenant.newPerson()).ask('GET', '/api/session')
		const stranger = await server.newPerson()
		expect((await stranger.ask('DELETE', `/api/sessions/${body.data.id}`)).status).toBe(404)
	})

	// Sets the clock forward.
	it('ends after seven days without use, and after thirty in any case', async () => {
		const [idle, busy] = [await tenant.newPerson(), await tenant.newPerson()]
		const use = (person: typeof idle) => person.ask('GET', '/api/companies').then(({ status }) => status)
		const { organizationId } = tenant
		const { id } = (await busy.ask('GET', '/api/session')).body.data
		const began = server.clock.now
		server.clock.now += 7 * day - 1
		expect(await use(idle)).toBe(200)
		server.clock.now++
		expect(await use(idle)).toBe(401)
		await server.db.transaction((tx) => updateLastSeen(tx, organizationId, id, began + 29 * day))
		await tenant.ask('PATCH', '/api/organization', { body: { name: 'Renamed Ltd' } })
		server.clock.now = began + 30 * day - 1
		expect(await use(busy)).toBe(200)
		server.clock.now++
		expect(await use(busy)).toBe(401)
	})
})
