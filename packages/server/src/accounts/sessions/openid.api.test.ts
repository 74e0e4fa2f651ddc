// Signing in at an OpenID Connect provider: oidc-provider, which is certified and independent of the client that the server uses.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { browse } from '../../../test/oauth-server.ts'
import { OpenIdServer } from '../../../test/openid-server.ts'

let provider: OpenIdServer
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	provider = await new OpenIdServer().start()
	server = await startTestServer({ WEB: 'on', ...provider.settings })
	provider.serve(server.url)
	tenant = await server.newTenant()
})
afterAll(async () => {
	await server.close()
	await provider.stop()
})

let people = 0
/** Somebody whom the provider knows and has not met here before. */
const somebody = (email: string, more: object = {}) => ({
	sub: `sub-${++people}`,
	email,
	email_verified: true,
	name: 'Ada Lindqvist',
	...more,
})

const open = (url: string, cookies = new Map<string, string>(), headers: Record<string, string> = {}) => {
	const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
	return fetch(url, { redirect: 'manual', headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers } })
}

/** The way to the provider and to the server's callback, which is not opened. */
async function comeBack(returnTo = '/companies') {
	const cookies = new Map<string, string>()
	const callback = await browse(
		`${server.url}/openid/sign-in?${new URLSearchParams({ returnTo })}`,
		`${server.url}/openid/callback`,
		cookies,
	)
	return { callback, cookies }
}

/** Where it ends, and the header `Cookie` of the session that it began. */
async function ended(answer: Response) {
	const cookie = answer.headers.getSetCookie().find((set) => set.startsWith('remit='))
	return { status: answer.status, at: answer.headers.get('location'), cookie: cookie?.split(';')[0], set: cookie }
}

async function signIn(returnTo?: string) {
	const { callback, cookies } = await comeBack(returnTo)
	return ended(await open(callback, cookies))
}

const sessionOf = async (cookie = '') => (await server.ask('GET', '/api/session', { key: null, headers: { cookie } })).body.data
const outcome = (openid: string) => ({ at: `/app/sign-in?returnTo=%2Fcompanies&openid=${openid}`, cookie: undefined })

describe('who signs in at the provider', () => {
	it('is the person with the address that it has verified, and stays that person when the address changes there', async () => {
		const { id, email } = await tenant.newPerson('manager')
		provider.person = somebody(email.toUpperCase())
		const first = await signIn()
		expect(first).toMatchObject({ status: 303, at: '/app/sign-in?returnTo=%2Fcompanies&openid=done' })
		expect(first.set).toMatch(/; HttpOnly; SameSite=Strict$/)
		expect((await sessionOf(first.cookie)).user).toMatchObject({ id, role: 'manager', lastSignInAt: server.clock.now })
		provider.person = { ...provider.person, email: 'changed@people.example' }
		expect((await sessionOf((await signIn()).cookie)).user.id).toBe(id)
		const { data } = (await tenant.ask('GET', '/api/audit?limit=10')).body
		expect(data.find(({ operation }: { operation: string }) => operation === 'pages.openid')).toMatchObject({
			actor: { type: 'user', id },
		})
	})

	it('is known, whatever else the provider says of the tokens', async () => {
		const { id, email } = await tenant.newPerson()
		provider.person = somebody(email)
		provider.tokenChange = { refresh_token: null, scope: ['openid'], expires_in: null, token_type: undefined }
		expect((await sessionOf((await signIn()).cookie)).user?.id).toBe(id)
		provider.tokenChange = {}
	})

	it('is nobody with an address that is not verified, or that nobody has, and becomes nobody', async () => {
		const { email } = await tenant.newPerson()
		const before = (await tenant.ask('GET', '/api/users?limit=100')).body.data.length
		for (const more of [{ email_verified: false }, { email_verified: undefined }, { email: undefined }]) {
			provider.person = somebody(email, more)
			expect(await signIn()).toMatchObject(outcome('unverified'))
		}
		for (const address of ['nobody@people.example', `K${email}`.replace('K', '\u212a')]) {
			provider.person = somebody(address)
			expect(await signIn()).toMatchObject(outcome('unknown'))
		}
		expect((await tenant.ask('GET', '/api/users?limit=100')).body.data.length).toBe(before)
	})

	it('is not the person whose address they have got, where that one has signed in there before', async () => {
		const { email } = await tenant.newPerson('admin')
		provider.person = somebody(email)
		expect((await signIn()).cookie).toBeDefined()
		provider.person = somebody(email)
		expect(await signIn()).toMatchObject(outcome('unknown'))
	})

	it.each([
		['zoe', 'Zoe\u0308\u00ad\u3164 \u202eHaddad', 'Zoë Haddad'],
		['unseen', '\u2800\u200b', 'unseen'],
		['long', `${'😀'.repeat(199)} b`, '😀'.repeat(199)],
	])('joins as %s with the name %j, as the contract has names', async (who, name, shown) => {
		const email = `${who}@people.example`
		await tenant.ask('POST', '/api/invitations', { body: { email, role: 'member' } })
		provider.person = somebody(email, { name })
		expect((await sessionOf((await signIn()).cookie)).user.name).toBe(shown)
	})

	it('joins by an invitation of the address, with its role, once', async () => {
		await tenant.ask('POST', '/api/invitations', { body: { email: 'invited@people.example', role: 'member' } })
		provider.person = somebody('invited@people.example', { name: ' Noor\n Haddad ' })
		const { cookie } = await signIn()
		const { user, scopes } = await sessionOf(cookie)
		expect(user).toMatchObject({ name: 'Noor Haddad', role: 'member', organizationId: tenant.organizationId })
		expect(scopes).not.toContain('admin')
		expect((await tenant.ask('GET', '/api/invitations')).body.data).toEqual([])
		expect((await sessionOf((await signIn()).cookie)).user.id).toBe(user.id)
	})

	it('does not join by an invitation that has expired, or of an admin who is gone', async () => {
		const admin = await tenant.newPerson('admin')
		await admin.ask('POST', '/api/invitations', { body: { email: 'late@people.example', role: 'admin' } })
		await tenant.ask('DELETE', `/api/users/${admin.id}`)
		provider.person = somebody('late@people.example')
		expect(await signIn()).toMatchObject(outcome('unknown'))
		await tenant.ask('POST', '/api/invitations', { body: { email: 'later@people.example', role: 'member' } })
		server.clock.now += 8 * 86_400_000
		provider.person = somebody('later@people.example')
		expect(await signIn()).toMatchObject(outcome('unknown'))
	})

	it('stays out once they are removed', async () => {
		const person = await tenant.newPerson('member')
		provider.person = somebody(person.email)
		expect((await signIn()).cookie).toBeDefined()
		await tenant.ask('DELETE', `/api/users/${person.id}`)
		expect(await signIn()).toMatchObject(outcome('unknown'))
	})
})

describe('the way to the provider and back', () => {
	it('works once, in the browser that began it, with what the provider gave', async () => {
		const { email } = await tenant.newPerson()
		provider.person = somebody(email)
		const { callback, cookies } = await comeBack()
		const forged = new URL(callback)
		forged.searchParams.set('state', 'x'.repeat(43))
		const other = await comeBack()
		const nothing = { at: '/app/sign-in?openid=failed', cookie: undefined }
		expect(await ended(await open(callback))).toMatchObject(nothing)
		expect(await ended(await open(callback, other.cookies))).toMatchObject(outcome('failed'))
		expect(await ended(await open(forged.href, cookies))).toMatchObject(outcome('failed'))
		expect(await ended(await open(`${server.url}/openid/callback`, new Map([['remit_openid', 'nonsense']])))).toMatchObject(
			nothing,
		)
		expect((await ended(await open(callback, cookies))).cookie).toBeDefined()
		expect(await ended(await open(callback, cookies))).toMatchObject(outcome('failed'))
	})

	it('ends at sign-in when the provider lets nobody in, or is away', async () => {
		provider.person = undefined
		expect(await signIn()).toMatchObject(outcome('denied'))
		provider.person = somebody((await tenant.newPerson()).email)
		const { callback, cookies } = await comeBack()
		provider.isAway = true
		expect(await ended(await open(callback, cookies))).toMatchObject(outcome('failed'))
		provider.isAway = false
		expect((await signIn()).cookie).toBeDefined()
	})

	it('asks for a code, with a state, a nonce and PKCE, and keeps them in a cookie that no script reads', async () => {
		const answer = await open(`${server.url}/openid/sign-in`)
		const url = new URL(answer.headers.get('location') as string)
		expect(Object.fromEntries(url.searchParams)).toMatchObject({
			response_type: 'code',
			scope: 'openid email profile',
			state: expect.stringMatching(/^.{43}$/),
			nonce: expect.stringMatching(/^.{43}$/),
			code_challenge_method: 'S256',
			redirect_uri: `${server.url}/openid/callback`,
		})
		expect(answer.headers.get('set-cookie')).toMatch(/^remit_openid=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/)
	})

	it('is not begun by a page of another site, and leads to no other site', async () => {
		const fromElsewhere = await open(`${server.url}/openid/sign-in`, new Map(), { 'sec-fetch-site': 'cross-site' })
		expect(fromElsewhere.headers.get('location')).toMatch(/^\/app\/sign-in/)
		provider.person = somebody((await tenant.newPerson()).email)
		for (const returnTo of ['https://evil.example', '//evil.example', '/\\evil.example'])
			expect((await signIn(returnTo)).at).toBe(`/app/sign-in?${new URLSearchParams({ returnTo, openid: 'done' })}`)
	})
})

it('A server without a provider has no such way, and says so', async () => {
	const plain = await startTestServer({ WEB: 'on' })
	expect((await server.ask('GET', '/api/setup', { key: null })).body.data.openIdConnect).toBe(true)
	expect((await plain.ask('GET', '/api/setup', { key: null })).body.data.openIdConnect).toBe(false)
	expect((await fetch(`${plain.url}/openid/sign-in`)).status).toBe(404)
	await plain.close()
})
