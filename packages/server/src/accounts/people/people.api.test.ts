// People of an organization: invitations, roles, leaving, passwords, and the first person of a server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { personPassword, startTestServer, type TestPerson, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { type MailServer, type Received, startMailServer } from '../../../test/mail-server.ts'
import { openSetup } from '../../../test/people.ts'
import { expectRefusal, Remit } from '../../../test/remit.ts'
import { query } from '../../platform/db/database.ts'

const day = 86_400_000
const password = secret('chosen')

const everything = query<object, { passwordHash: string | null }>((knex) =>
	knex('users').leftJoin('sessions', 'sessions.userId', 'users.id').select('users.*', 'sessions.hash'),
)

let mail: MailServer
let server: TestServer
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'office@remit.example' })
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const ask = (method: string, path: string, body?: object) => server.ask(method, path, { key: null, body })
const tokenOf = (url: string) => url.split('#')[1] as string
const withCookie = ({ headers }: { headers: Headers }, path = '/api/session') =>
	server.ask('GET', path, { key: null, headers: { cookie: (headers.get('set-cookie') as string).split(';')[0] as string } })

describe('an invitation', () => {
	it('goes out by mail, shows what it is about, and lets somebody join once', async () => {
		const tenant = await server.newTenant({ name: 'Nordwind <Studio>' })
		const { id: admin } = await tenant.newPerson()
		const created = await tenant.ask('POST', '/api/invitations', { body: { email: 'Grace@Nordwind.example', role: 'manager' } })
		expect(created).toMatchObject({ status: 201, body: { emailed: true } })
		const token = tokenOf(created.body.url)
		const { to, subject, text, html } = (mail.received.at(-1) as Received).email
		expect([to?.[0]?.address, subject]).toEqual(['grace@nordwind.example', 'Join Nordwind <Studio> on Remit'])
		expect(text).toContain(created.body.url)
		expect(html).not.toContain('<Studio>')

		const details = { organizationName: 'Nordwind <Studio>', email: 'grace@nordwind.example', role: 'manager' }
		expect((await ask('POST', '/api/invitations/show', { token })).body.data).toMatchObject(details)
		const joined = await ask('POST', '/api/invitations/accept', { token, name: 'Grace Hopper', password })
		expect(joined).toMatchObject({ status: 201, body: { data: { user: { name: 'Grace Hopper', role: 'manager' } } } })
		expect((await withCookie(joined, '/api/users')).body.data.map(({ id }: { id: string }) => id)).toContain(admin)
		expect((await ask('POST', '/api/session', { email: 'grace@nordwind.example', password })).status).toBe(201)
		for (const again of ['show', 'accept']) {
			const body = again === 'show' ? { token } : { token, name: 'Grace', password }
			expect(await ask('POST', `/api/invitations/${again}`, body)).toMatchObject({
				status: 404,
				body: { code: 'invitation_not_found' },
			})
		}
		const taken = await tenant.ask('POST', '/api/invitations', { body: { email: 'grace@nordwind.example', role: 'member' } })
		expect(taken).toMatchObject({ status: 409, body: { code: 'email_taken' } })
	})

	it('that is sent again has a new link, and the one before works no longer', async () => {
		const tenant = await server.newTenant()
		const { id, url } = (await tenant.ask('POST', '/api/invitations', { body: { email: 'a@b.example', role: 'member' } })).body
		const again = (await tenant.ask('POST', `/api/invitations/${id}/resend`)).body
		expect((await ask('POST', '/api/invitations/show', { token: tokenOf(url) })).status).toBe(404)
		const body = { email: 'a@b.example', role: 'manager' }
		const renewed = (await tenant.ask('POST', '/api/invitations', { body })).body
		expect(renewed.id).toBe(id)
		expect((await ask('POST', '/api/invitations/show', { token: tokenOf(again.url) })).status).toBe(404)
		expect((await ask('POST', '/api/invitations/show', { token: tokenOf(renewed.url) })).body.data.role).toBe('manager')
		expect((await tenant.ask('GET', '/api/invitations')).body.data).toHaveLength(1)
	})

	it('is accepted by one of ten who try at once', async () => {
		const tenant = await server.newTenant()
		const { url } = (await tenant.ask('POST', '/api/invitations', { body: { email: 'c@d.example', role: 'member' } })).body
		const body = { token: tokenOf(url), name: 'Grace', password }
		const answers = await Promise.all(Array.from({ length: 10 }, () => ask('POST', '/api/invitations/accept', body)))
		expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(404)])
	})

	it('gives nobody a role that may do more than who invites', async () => {
		const tenant = await server.newTenant()
		const { key } = await tenant.newKey(['admin'])
		const refused = await tenant.ask('POST', '/api/invitations', { key, body: { email: 'e@f.example', role: 'admin' } })
		expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope', errors: [{ pointer: '/role' }] } })
		const manager = await tenant.newPerson('manager')
		const body = { email: 'e@f.example', role: 'member' }
		expect((await manager.ask('POST', '/api/invitations', { body })).status).toBe(403)
	})

	it('ends with who made it: one who was removed, or who may no longer give its role, until somebody else sends it again', async () => {
		const tenant = await server.newTenant()
		const [removed, demoted] = [await tenant.newPerson(), await tenant.newPerson()]
		let count = 0
		const by = async (who: TestPerson, role: string) => {
			const body = { email: `grace${++count}@ended.example`, role }
			const { id, url } = (await who.ask('POST', '/api/invitations', { body })).body
			return { id, token: tokenOf(url) }
		}
		const [ofRemoved, admin, member] = [await by(removed, 'member'), await by(demoted, 'admin'), await by(demoted, 'member')]
		const show = ({ token }: { token: string }) => ask('POST', '/api/invitations/show', { token })
		const accept = ({ token }: { token: string }) => ask('POST', '/api/invitations/accept', { token, name: 'Grace', password })
		expect((await show(ofRemoved)).status).toBe(200)
		expect((await tenant.ask('DELETE', `/api/users/${removed.id}`)).status).toBe(200)
		expect((await tenant.ask('PATCH', `/api/users/${demoted.id}`, { body: { role: 'manager' } })).status).toBe(409)
		const keeper = await tenant.newPerson()
		expect((await tenant.ask('PATCH', `/api/users/${demoted.id}`, { body: { role: 'manager' } })).status).toBe(200)
		for (const ended of [ofRemoved, admin])
			for (const answer of [await show(ended), await accept(ended)])
				expect(answer).toMatchObject({ status: 404, body: { code: 'invitation_ended' } })
		expect((await accept(member)).status).toBe(201)
		const listed = (await tenant.ask('GET', '/api/invitations')).body.data
		expect(listed.map(({ createdBy }: { createdBy: object }) => createdBy)).toEqual([
			{ type: 'user', id: demoted.id },
			{ type: 'user', id: removed.id },
		])
		const again = (await keeper.ask('POST', `/api/invitations/${ofRemoved.id}/resend`)).body
		expect((await accept({ token: tokenOf(again.url) })).status).toBe(201)
	})

	it('is never accepted once the admin who made it is removed, of both at once, too', async () => {
		for (let round = 0; round < 4; round++) {
			const tenant = await server.newTenant()
			const [inviter] = [await tenant.newPerson(), await tenant.newPerson()]
			const body = { email: 'late@both.example', role: 'admin' }
			const token = tokenOf((await inviter.ask('POST', '/api/invitations', { body })).body.url)
			const [accepted, removal] = await Promise.all([
				ask('POST', '/api/invitations/accept', { token, name: 'Late', password }),
				tenant.ask('DELETE', `/api/users/${inviter.id}`),
			])
			expect([201, 404]).toContain(accepted.status)
			expect(removal.status).toBe(200)
			expect((await ask('POST', '/api/invitations/accept', { token, name: 'Late', password })).status).toBe(404)
		}
	})

	it('gives the role that it was made with, whatever else is sent with its link', async () => {
		const { url } = (await server.ask('POST', '/api/invitations', { body: { email: 'role@people.example', role: 'member' } }))
			.body
		const body = { token: tokenOf(url), name: 'Mallory', password: secret('of-mallory') }
		for (const more of [{ role: 'admin' }, { email: 'other@people.example' }, { organizationId: server.organizationId }]) {
			const { status } = await server.ask('POST', '/api/invitations/accept', { key: null, body: { ...body, ...more } })
			expect(status).toBe(400)
		}
		const joined = await server.ask('POST', '/api/invitations/accept', { key: null, body })
		expect(joined.body.data.user).toMatchObject({ role: 'member', email: 'role@people.example' })
	})

	it('of another organization is neither seen nor changed, and lets in there alone whoever is signed in here', async () => {
		const [tenant, other] = [await server.newTenant(), await server.newTenant()]
		const { id, url } = (await other.ask('POST', '/api/invitations', { body: { email: 'ada@there.example', role: 'admin' } }))
			.body
		const admin = await tenant.newPerson()
		expect((await admin.ask('GET', '/api/invitations')).body.data).toEqual([])
		expect(await admin.ask('POST', `/api/invitations/${id}/resend`)).toMatchObject({ status: 404 })
		expect(await admin.ask('DELETE', `/api/invitations/${id}`)).toMatchObject({ status: 404 })
		const joined = await admin.ask('POST', '/api/invitations/accept', { body: { token: tokenOf(url), name: 'Ada', password } })
		expect(joined.body.data.user).toMatchObject({ organizationId: other.organizationId, role: 'admin' })
		expect((await withCookie(joined)).body.data.user.organizationId).toBe(other.organizationId)
		expect((await admin.ask('GET', '/api/session')).body.data.user.organizationId).toBe(tenant.organizationId)
	})

	it('is at most one of a hundred', async () => {
		const tenant = await server.newTenant()
		const invite = (n: number) => tenant.ask('POST', '/api/invitations', { body: { email: `p${n}@g.example`, role: 'member' } })
		const answers = await Promise.all(Array.from({ length: 101 }, (_, n) => invite(n)))
		const refused = answers.filter(({ status }) => status !== 201)
		expect(refused).toMatchObject([{ status: 409, body: { code: 'too_many_invitations' } }])
	})
})

describe('a person', () => {
	it('changes their own name, and nobody but an admin changes a role', async () => {
		const tenant = await server.newTenant()
		const [member, admin] = [await tenant.newPerson('member'), await tenant.newPerson()]
		const change = (who: TestPerson, id: string, body: object) => who.ask('PATCH', `/api/users/${id}`, { body })
		expect((await change(member, member.id, { name: 'Augusta' })).status).toBe(200)
		expect((await change(member, admin.id, { name: 'Nobody' })).status).toBe(403)
		expect((await change(member, member.id, { role: 'admin' })).status).toBe(403)
		expect((await change(member, member.id, { name: 'Augusta', role: 'admin' })).status).toBe(403)
		expect((await member.ask('POST', '/api/tax-rates', { body: { name: 'VAT', percent: '19' } })).status).toBe(403)
		expect((await change(admin, member.id, { role: 'manager' })).status).toBe(200)
		expect((await member.ask('POST', '/api/tax-rates', { body: { name: 'VAT', percent: '19' } })).status).toBe(201)
		expect((await member.ask('GET', `/api/users/${member.id}`)).body.data).toMatchObject({ name: 'Augusta', role: 'manager' })
	})

	it('who is the last admin stays one, of two who go at once, too', async () => {
		const tenant = await server.newTenant()
		const [first, second] = [await tenant.newPerson(), await tenant.newPerson()]
		const answers = await Promise.all([
			tenant.ask('DELETE', `/api/users/${first.id}`),
			tenant.ask('PATCH', `/api/users/${second.id}`, { body: { role: 'member' } }),
		])
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
		expect(answers.find(({ status }) => status === 409)?.body.code).toBe('last_admin')
	})

	it('who is removed is signed out, cannot sign in, and keeps the name on what they did', async () => {
		const tenant = await server.newTenant()
		const [member] = [await tenant.newPerson('member'), await tenant.newPerson()]
		expect((await tenant.ask('DELETE', `/api/users/${member.id}`)).status).toBe(200)
		expect((await member.ask('GET', '/api/companies')).status).toBe(401)
		expect((await ask('POST', '/api/session', { email: member.email, password: personPassword })).status).toBe(401)
		expect((await tenant.ask('GET', `/api/users/${member.id}`)).body.data).toMatchObject({
			name: 'Ada',
			removedAt: expect.any(Number),
		})
		expect((await tenant.ask('GET', '/api/users')).body.data.map(({ id }: { id: string }) => id)).not.toContain(member.id)
		expect((await tenant.ask('PATCH', `/api/users/${member.id}`, { body: { role: 'admin' } })).status).toBe(404)
		expect((await tenant.ask('POST', '/api/invitations', { body: { email: member.email, role: 'member' } })).status).toBe(201)
	})
})

describe('a password', () => {
	const signIn = (email: string, tried: string) => ask('POST', '/api/session', { email, password: tried })

	it('is changed by who knows it, and all other sessions end', async () => {
		const person = await server.newPerson()
		const other = await signIn(person.email, personPassword)
		const change = (currentPassword: string) =>
			person.ask('POST', '/api/session/password/change', { body: { currentPassword, password } })
		const refused = await change(secret('wrong'))
		expect(refused).toMatchObject({ status: 422, body: { code: 'wrong_password', errors: [{ pointer: '/currentPassword' }] } })
		expect((await change(personPassword)).status).toBe(200)
		expect((await person.ask('GET', '/api/session')).status).toBe(200)
		expect((await withCookie(other)).status).toBe(401)
		expect([(await signIn(person.email, personPassword)).status, (await signIn(person.email, password)).status]).toEqual([
			401, 201,
		])
	})

	it('that is forgotten is set by a link from a mail, once, and every session ends', async () => {
		const person = await server.newPerson()
		const arrived = mail.received.length
		const unknown = await ask('POST', '/api/session/password/reset', { email: 'nobody@people.example' })
		const known = await ask('POST', '/api/session/password/reset', { email: person.email })
		expect([unknown.status, known.status, known.text]).toEqual([200, 200, unknown.text])
		await vi.waitFor(() => expect(mail.received).toHaveLength(arrived + 1))
		const token = /\/app\/reset#([\w-]+)/.exec(mail.received.at(-1)?.email.text ?? '')?.[1]
		const set = () => ask('POST', '/api/session/password/set', { token, password })
		expect((await set()).status).toBe(200)
		expect((await person.ask('GET', '/api/session')).status).toBe(401)
		expect((await signIn(person.email, password)).status).toBe(201)
		expect(await set()).toMatchObject({ status: 404, body: { code: 'password_reset_not_found' } })
	})

	it('that is changed or set ends every older link, and lets in again who was locked out', async () => {
		const person = await server.newPerson()
		const linkOf = async () => {
			const arrived = mail.received.length
			await ask('POST', '/api/session/password/reset', { email: person.email })
			await vi.waitFor(() => expect(mail.received).toHaveLength(arrived + 1))
			return /\/app\/reset#([\w-]+)/.exec(mail.received.at(-1)?.email.text ?? '')?.[1]
		}
		const old = await linkOf()
		const body = { currentPassword: personPassword, password }
		expect((await person.ask('POST', '/api/session/password/change', { body })).status).toBe(200)
		const set = (token?: string) => ask('POST', '/api/session/password/set', { token, password })
		expect((await set(old)).status).toBe(404)
		for (let failure = 0; failure < 10; failure++) await signIn(person.email, secret('wrong'))
		expect((await signIn(person.email, password)).status).toBe(429)
		expect((await set(await linkOf())).status).toBe(200)
		expect((await signIn(person.email, password)).status).toBe(201)
	})

	it('has at least 12 characters', async () => {
		const answer = await ask('POST', '/api/session/password/set', { token: 'x'.repeat(43), password: secret().slice(0, 11) })
		expect(answer.body.errors).toMatchObject([{ pointer: '/password', code: 'minLength' }])
	})

	it('is nowhere in the database, nor is the secret of a cookie', async () => {
		const person = await server.newPerson()
		const rows = await server.db.all(everything, {})
		expect(rows.some(({ passwordHash }) => /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/.test(passwordHash ?? ''))).toBe(true)
		expect(JSON.stringify(rows)).not.toContain(person.cookie.split('=')[1])
	})
})

describe('the first person', () => {
	const body = { name: 'Ada', email: 'Ada@New.example', password }

	it('sets a server up with the link that it printed, once', async () => {
		const fresh = await startTestServer()
		const setUp = (more: object) => fresh.ask('POST', '/api/setup', { key: null, body: { ...body, ...more } })
		const token = await openSetup(fresh)
		const state = async () => (await fresh.ask('GET', '/api/setup', { key: null })).body.data
		expect(await state()).toMatchObject({ isOpen: true, organizationName: 'Test Ltd' })
		expect(await setUp({ token: 'x'.repeat(32) })).toMatchObject({ status: 404, body: { code: 'setup_not_found' } })
		const answers = await Promise.all([setUp({ token }), setUp({ token, email: 'other@new.example' })])
		expect(answers.map(({ status }) => status).sort()).toEqual([201, 404])
		const done = answers.find(({ status }) => status === 201)
		expect(done?.body.data.user).toMatchObject({ role: 'admin', organizationId: fresh.organizationId })
		expect(await state()).toMatchObject({ isOpen: false, organizationName: null })
		expect((await setUp({ token })).status).toBe(404)
		await fresh.close()
	})

	it('names the organization where there are several', async () => {
		await server.newTenant()
		const token = await openSetup(server)
		const refused = await ask('POST', '/api/setup', { ...body, token })
		expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_setup', errors: [{ pointer: '/organizationName' }] } })
		const done = await ask('POST', '/api/setup', { ...body, token, organizationName: 'New Ltd' })
		expect(done.body.data.user).toMatchObject({ email: 'ada@new.example', role: 'admin' })
	})
})

// Sets the clock forward.
it('Links to a person end: an invitation after seven days, one to set a password after an hour', async () => {
	const tenant = await server.newTenant()
	const { url } = (await tenant.ask('POST', '/api/invitations', { body: { email: 'late@h.example', role: 'member' } })).body
	server.clock.now += 7 * day - 1
	expect((await ask('POST', '/api/invitations/show', { token: tokenOf(url) })).status).toBe(200)
	server.clock.now++
	expect((await ask('POST', '/api/invitations/show', { token: tokenOf(url) })).status).toBe(404)
	const accepted = await ask('POST', '/api/invitations/accept', { token: tokenOf(url), name: 'Late', password })
	expect(accepted).toMatchObject({ status: 404, body: { code: 'invitation_not_found' } })
})

describe('remit users', () => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-users-'))
	let remit: Remit
	beforeAll(() => {
		const { DATABASE_URL = '', DATA_DIR } = server.settings
		remit = new Remit({ DATABASE_URL, DATA_DIR: DATA_DIR || folder, BASE_URL: 'https://remit.example' }, folder)
	})
	afterAll(() => {
		remit.stop()
		rmSync(folder, { recursive: true })
	})

	it('lets a person in without mail: by an invitation, and by a link to set a password', async () => {
		const { organizationId } = await server.newTenant()
		const args = ['users', 'create', '--organization', organizationId, '--email', 'Op@People.example']
		const { url } = await remit.json(args)
		expect(url).toMatch(/^https:\/\/remit\.example\/app\/invite#/)
		server.clock.now = Date.now()
		const joined = await ask('POST', '/api/invitations/accept', { token: tokenOf(url), name: 'Op', password })
		expect(joined.body.data.user).toMatchObject({ role: 'admin', email: 'op@people.example' })
		expectRefusal(await remit.run(args), /op@people\.example/)
		const reset = await remit.json(['users', 'reset-password', 'op@people.example'])
		const set = { token: tokenOf(reset.url), password: secret('other') }
		expect((await ask('POST', '/api/session/password/set', set)).status).toBe(200)
		expect((await withCookie(joined)).status).toBe(401)
		const elsewhere = ['users', 'reset-password', 'op@people.example']
		const printed = await remit.run(elsewhere, { BASE_URL: '' })
		expect(printed.stdout).toMatch(/http:\/\/127\.0\.0\.1:0\/.*\n.*another address, set its BASE_URL, or HOST and PORT,/s)
		expect((await remit.run(elsewhere)).stdout).not.toMatch(/BASE_URL/)
		expectRefusal(await remit.run(['users', 'reset-password', 'none@people.example']), /^none@people\.example: nobody has/)
		expectRefusal(await remit.run([...args, '--role', 'boss']), /^--role boss: must be one of member, manager, admin/)
	})
})
