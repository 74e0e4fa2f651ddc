// A key, a session or a role that ends while requests are under way, on this process and on another one.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { personPassword, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { Remit } from '../../../test/remit.ts'
import { newRequest } from '../../../test/samples.ts'
import { listKeys, revokeKey } from '../../accounts/api-keys/store.ts'
import { changePerson, removePerson, users } from '../../accounts/people/store.ts'
import { sessions } from '../../accounts/sessions/store.ts'
import { bySystem } from '../base/origin.ts'
import { operations } from '../contract/routes.ts'
import type { Db } from '../db/database.ts'
import { takeChangeTime } from '../db/write-context.ts'
import { Callers } from './caller.ts'
import { changesAccess } from './permissions.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const keyEnded = { status: 401, body: { code: 'invalid_credentials' } }

describe('look-ups of one key', () => {
	/** Callers whose look-ups wait until they are let go. */
	function heldCallers() {
		let lookUps = 0
		const [begin, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
		const held: Db = Object.create(server.db, {
			get: {
				value: async (...args: Parameters<Db['get']>) => {
					lookUps++
					const row = await server.db.get(...args)
					read.resolve()
					await begin.promise
					return row
				},
			},
		})
		const callers = new Callers(held as typeof server.db, () => server.clock.now)
		const identify = (key: string) => callers.identify({ authorization: `Bearer ${key}` }, (work) => work())
		return { callers, identify, hasRead: read.promise, go: begin.resolve, lookUps: () => lookUps }
	}

	it('are one for all the requests that wait for it', async () => {
		const [one, other] = [await server.newKey(['read']), await server.newKey(['read'])]
		const { identify, go, lookUps } = heldCallers()
		const waiting = [one, one, one, other, one].map(({ key }) => identify(key))
		go()
		expect((await Promise.all(waiting)).map(({ id }) => id)).toEqual([one, one, one, other, one].map(({ id }) => id))
		expect(lookUps()).toBe(2)
	})

	it('that began before a revocation serve no request after it', async () => {
		const { id, key } = await server.newKey(['read'])
		const { callers, identify, hasRead, go } = heldCallers()
		const before = identify(key)
		await hasRead
		await server.db.transaction((tx) => revokeKey(server.writing(tx), id, server.organizationId))
		callers.forget(server.organizationId)
		const after = identify(key)
		go()
		expect(await before).toMatchObject({ id })
		await expect(after).rejects.toMatchObject({ code: 'invalid_credentials' })
		await expect(identify(key)).rejects.toMatchObject({ code: 'invalid_credentials' })
	})

	it('that fail are made again by the next request', async () => {
		const { id, key } = await server.newKey(['read'])
		const lost: Db = Object.create(server.db, { get: { value: () => Promise.reject(new Error('lost')), configurable: true } })
		const callers = new Callers(lost as typeof server.db, () => server.clock.now)
		const identify = () => callers.identify({ authorization: `Bearer ${key}` }, (work) => work())
		for (const { status } of await Promise.allSettled([identify(), identify()])) expect(status).toBe('rejected')
		Object.defineProperty(lost, 'get', { value: server.db.get.bind(server.db) })
		expect(await identify()).toMatchObject({ id })
	})
})

describe('a caller whose body takes its time', () => {
	/** Sends the headers of a request, does `meanwhile` when the server has its caller, and then sends the body. */
	async function askSlowly(path: string, headers: Record<string, string>, body: object, meanwhile: () => Promise<unknown>) {
		const text = JSON.stringify(body)
		const all = { ...headers, 'content-type': 'application/json', 'content-length': text.length, expect: '100-continue' }
		const sent = request(server.url + path, { method: 'POST', headers: all })
		sent.flushHeaders()
		await once(sent, 'continue')
		sent.write(text.slice(0, 5))
		await meanwhile()
		sent.end(text.slice(5))
		const [answer] = (await once(sent, 'response')) as [IncomingMessage]
		return { status: answer.statusCode, body: JSON.parse((await answer.setEncoding('utf8').toArray()).join('')) }
	}

	it.each([
		['/api-keys', { name: 'More', scopes: ['admin'] }],
		['/api/companies', { name: 'Acme' }],
	])('is asked again before POST %s: a key that was revoked makes nothing', async (path, body) => {
		const { id, key } = await server.newKey(['admin', 'companies:write'])
		const revoke = () => server.ask('DELETE', `/api-keys/${id}`)
		expect((await server.ask('GET', '/api-keys', { key })).status).toBe(200)
		expect(await askSlowly(path, { authorization: `Bearer ${key}` }, body, revoke)).toMatchObject(keyEnded)
	})

	it('is asked again: a key that expired meanwhile makes none, and a role that shrank changes no tax rate', async () => {
		const { key } = await server.newKey(['admin'], { expiresAt: server.clock.now + 60_000 })
		const later = async () => {
			server.clock.now += 60_000
		}
		const more = { name: 'More', scopes: ['admin'] }
		expect(await askSlowly('/api-keys', { authorization: `Bearer ${key}` }, more, later)).toMatchObject(keyEnded)
		const tenant = await server.newTenant()
		const [keeper, person] = [await tenant.newPerson(), await tenant.newPerson()]
		const demote = () => keeper.ask('PATCH', `/api/users/${person.id}`, { body: { role: 'member' } })
		const headers = { cookie: person.cookie, 'sec-fetch-site': 'same-origin' }
		const rate = { name: 'VAT', percent: '19' }
		expect(await askSlowly('/api/tax-rates', headers, rate, demote)).toMatchObject({ status: 403 })
	})

	it('is asked again: the session of somebody who signed out makes nothing, and a role that shrank does less', async () => {
		const tenant = await server.newTenant()
		const [keeper, person] = [await tenant.newPerson(), await tenant.newPerson()]
		const headers = { cookie: person.cookie, 'sec-fetch-site': 'same-origin' }
		const demote = () => keeper.ask('PATCH', `/api/users/${person.id}`, { body: { role: 'manager' } })
		const signOut = () => person.ask('DELETE', '/api/session')
		await person.ask('GET', '/api/session')
		const key = { name: 'More', scopes: ['admin'] }
		expect(await askSlowly('/api-keys', headers, key, demote)).toMatchObject({
			status: 403,
			body: { code: 'insufficient_scope' },
		})
		const ended = { status: 401, body: { code: 'session_ended' } }
		expect(await askSlowly('/api/companies', headers, { name: 'Acme' }, signOut)).toMatchObject(ended)
	})
})

describe('what another process revoked', () => {
	let tenant: Tenant
	beforeAll(async () => {
		tenant = await server.newTenant()
		// The last admin cannot leave.
		await tenant.newPerson()
	})
	/** What another process does: this one is not told. */
	const elsewhere = <T>(work: (write: ReturnType<Tenant['writing']>) => Promise<T>) =>
		server.db.transaction((tx) => work(tenant.writing(tx)))
	/** Of whom this process knows, and for two seconds will, that they are admins. */
	const knownPerson = async () => {
		const person = await tenant.newPerson()
		expect((await person.ask('GET', '/api/users')).status).toBe(200)
		return { ...person, user: await users.existing(server.db, tenant.organizationId, person.id) }
	}

	it('gives an admin who is one no more neither the role again nor a key', async () => {
		const { ask, user } = await knownPerson()
		await elsewhere((write) => changePerson(write, user, { role: 'member' }))
		const refused = { status: 403, body: { code: 'insufficient_scope' } }
		expect(await ask('PATCH', `/api/users/${user.id}`, { body: { role: 'admin' } })).toMatchObject(refused)
		expect((await users.existing(server.db, tenant.organizationId, user.id)).role).toBe('member')
		expect(await ask('POST', '/api-keys', { body: { name: 'More', scopes: ['admin'] } })).toMatchObject(refused)
		expect((await ask('PATCH', `/api/users/${user.id}`, { body: { name: 'Still Ada' } })).status).toBe(200)
	})

	it('lets somebody who was removed make no key', async () => {
		const { ask, user } = await knownPerson()
		await elsewhere((write) => removePerson(write, user))
		const answer = await ask('POST', '/api-keys', { body: { name: 'More', scopes: ['admin'] } })
		expect(answer).toMatchObject({ status: 401, body: { code: 'session_ended' } })
	})

	const forKeys = operations.filter((operation) => changesAccess(operation) && !operation.sessionOnly)

	it.each(forKeys)('no longer lets a key $id', async (operation) => {
		const { path, body } = await newRequest(operation, tenant)
		const { id, key } = await tenant.newKey(['read', 'write', 'admin', 'organization:write'])
		expect((await tenant.ask('GET', '/api-keys', { key })).status).toBe(200)
		await elsewhere((write) => revokeKey(write, id, tenant.organizationId))
		expect(await tenant.ask(operation.method, path, { key, body })).toMatchObject(keyEnded)
		const { data } = (await tenant.ask('GET', `/api/audit?actor=${id}`)).body
		expect(data).toEqual([])
	})

	it('is all that manages access: every operation that an admin alone may call', () => {
		const families = forKeys.map(({ id }) => id.replace(/\.\w+$/, ''))
		for (const family of ['apiKeys', 'invitations', 'users', 'sessions', 'connections', 'webhooks.endpoints', 'organization'])
			expect(families).toContain(family)
	})
})

// The command is another process, which SQLite does not have beside a server.
if (inject('database') === 'postgres') {
	it('A revocation waits for a change that is under way, and no change is stored behind it', async () => {
		const { DATABASE_URL = '', DATA_DIR = '' } = server.settings
		const { id } = await server.newKey(['read'])
		const remit = new Remit({ DATABASE_URL, DATA_DIR }, tmpdir())
		const waiting = {
			build: (knex: Knex) => knex('pg_stat_activity').whereRaw(`datname = current_database() and wait_event_type = 'Lock'`),
		}
		const revoking = await server.db.transaction(async (tx) => {
			await takeChangeTime(tx, bySystem(server.clock.now), server.organizationId)
			const revoking = remit.run(['keys', 'revoke', id])
			await expect.poll(() => server.db.all(waiting, {}), { timeout: 20_000 }).toHaveLength(1)
			return { revoking }
		})
		expect(await revoking.revoking).toMatchObject({ code: 0 })
		expect(await listKeys(server.db, server.organizationId)).toContainEqual(
			expect.objectContaining({ id, revokedAt: expect.any(Number) }),
		)
	})
}

it('A 401 is not kept for an Idempotency-Key: who signs in again may repeat the request', async () => {
	const tenant = await server.newTenant()
	const person = await tenant.newPerson()
	const { id } = (await person.ask('GET', '/api/session')).body.data
	const stored = await sessions.existing(server.db, tenant.organizationId, id)
	await server.db.transaction((tx) => sessions.remove(tenant.writing(tx), stored))
	const body = { name: 'More', scopes: ['read'] }
	const headers = { 'idempotency-key': 'again' }
	expect((await person.ask('POST', '/api-keys', { body, headers })).status).toBe(401)
	const signedIn = await server.ask('POST', '/api/session', {
		key: null,
		body: { email: person.email, password: personPassword, organizationId: tenant.organizationId },
	})
	const cookie = (signedIn.headers.get('set-cookie') as string).split(';')[0] as string
	expect((await person.ask('POST', '/api-keys', { body, headers: { ...headers, cookie } })).status).toBe(201)
})
