import { hash } from 'node:crypto'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import fc from 'fast-check'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { pathOf } from '../../../test/samples.ts'
import { listKeys, revokeKey } from '../../accounts/api-keys/store.ts'
import { readConfig } from '../../config.ts'
import { startServer } from '../../server.ts'
import { operations } from '../contract/routes.ts'
import { openDatabase } from '../db/drivers/open.ts'
import { Callers } from './caller.ts'
import { allows, scopes as allScopes, isWellFormedKey, newKey, type Scope } from './keys.ts'

let server: TestServer
let limited: TestServer
beforeAll(async () => {
	server = await startTestServer()
	limited = await startTestServer({ INVOICING_RATE_LIMIT: 3 })
})
afterAll(async () => {
	await limited.close()
	await server.close()
})

const refused = { status: 401, body: { code: 'invalid_credentials' } }
const letter = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
const letters = (count: number) => fc.string({ unit: letter, minLength: count, maxLength: count })

describe('the form of a key', () => {
	it('is rmt_, 32 random characters and 6 of checksum, never the same twice', () => {
		const keys = Array.from({ length: 200 }, () => newKey())
		for (const { key, hash: stored, lastFour } of keys) {
			expect(key).toMatch(/^rmt_[0-9A-Za-z]{38}$/)
			expect(isWellFormedKey(key)).toBe(true)
			expect(stored).toBe(hash('sha256', key, 'base64url'))
			expect(key.endsWith(lastFour)).toBe(true)
			expect(lastFour).toHaveLength(4)
		}
		expect(new Set(keys.map(({ key }) => key)).size).toBe(200)
	})

	it('shows a mistyped character, wherever it is', () => {
		const { key } = newKey()
		fc.assert(
			fc.property(fc.nat({ max: key.length - 1 }), letter, (at, other) => {
				fc.pre(key[at] !== other)
				expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
			}),
		)
	})

	it('refuses what only looks like a key', async () => {
		await fc.assert(
			fc.asyncProperty(letters(38), async (text) => {
				expect(isWellFormedKey(`rmt_${text}`)).toBe(false)
				expect(await server.ask('GET', '/api/invoices', { key: `rmt_${text}` })).toMatchObject(refused)
			}),
			{ numRuns: 20 },
		)
		for (const near of [server.key.slice(1), `x${server.key}`, `${server.key}0`, server.key.toLowerCase(), `sk_${server.key}`]) {
			expect(await server.ask('GET', '/api/invoices', { key: near })).toMatchObject(refused)
		}
	})
})

describe('the Authorization header', () => {
	const ask = (authorization: string) => server.ask('GET', '/api/invoices', { key: null, headers: { authorization } })

	it.each(['bearer', 'BEARER', 'Bearer   '])('may spell the scheme %j', async (scheme) => {
		expect((await ask(`${scheme} ${server.key}`)).status).toBe(200)
	})

	it.each([
		['another scheme', () => `Basic ${Buffer.from(`${server.key}:`).toString('base64')}`],
		['no scheme', () => server.key],
		['no key', () => 'Bearer'],
		['two keys', () => `Bearer ${server.key} ${server.key}`],
		['nothing in it', () => ''],
	])('is refused with %s, and its answer says what belongs there', async (_name, authorization) => {
		const answer = await ask(authorization())
		expect(answer).toMatchObject(refused)
		expect(answer.body.detail).toBe('The header Authorization must be `Bearer`, a blank and the API key.')
		expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="remit", error="invalid_token"')
	})

	it('is refused with a key in quotes, which is another key', async () => {
		const answer = await ask(`Bearer "${server.key}"`)
		expect(answer).toMatchObject(refused)
		expect(answer.body.detail).toBe('The API key is unknown, expired or revoked.')
	})

	it('and X-API-Key are the only places where the server reads a key', async () => {
		const headers = { cookie: `key=${server.key}`, 'x-key': server.key }
		const answer = await server.ask('GET', `/api/invoices?access_token=${server.key}`, { key: null, headers })
		expect(answer).toMatchObject({ status: 401, body: { code: 'missing_credentials' } })
	})
})

describe('the X-API-Key header', () => {
	const ask = (headers: Record<string, string>) => server.ask('GET', '/api/invoices', { key: null, headers })

	it('works like Authorization, also beside it with the same key', async () => {
		expect((await ask({ 'x-api-key': server.key })).status).toBe(200)
		expect((await ask({ 'x-api-key': server.key, authorization: `Bearer ${server.key}` })).status).toBe(200)
	})

	it('is refused when Authorization holds another key, or two', async () => {
		const { key: other } = await server.newKey(allScopes)
		for (const authorization of [`Bearer ${other}`, `bearer ${server.key} ${server.key}`]) {
			const answer = await ask({ 'x-api-key': server.key, authorization })
			expect(answer).toMatchObject({ status: 400, body: { code: 'ambiguous_credentials' } })
		}
	})

	it.each(['Basic dXNlcjpwYXNz', 'Negotiate YII=', 'Digest username="a"', 'Bearer', ''])(
		'counts alone beside Authorization: %s, which a proxy may add',
		async (authorization) => {
			expect((await ask({ 'x-api-key': server.key, authorization })).status).toBe(200)
			const answer = await ask({ 'x-api-key': server.key.slice(0, -1), authorization })
			expect(answer).toMatchObject(refused)
			expect(answer.body.detail).toBe('The API key is unknown, expired or revoked.')
		},
	)

	it('counts as absent when it is empty', async () => {
		expect((await ask({ 'x-api-key': '', authorization: `Bearer ${server.key}` })).status).toBe(200)
		expect(await ask({ 'x-api-key': '' })).toMatchObject({ status: 401, body: { code: 'missing_credentials' } })
		expect(await ask({ 'x-api-key': '', authorization: 'Basic dXNlcjpwYXNz' })).toMatchObject(refused)
	})

	it('is refused when its key is truncated or unknown', async () => {
		for (const key of [server.key.slice(0, -1), 'rmt_00000000000000000000000000000000000000']) {
			expect(await ask({ 'x-api-key': key })).toMatchObject(refused)
		}
	})
})

describe('scopes', () => {
	it.each(allScopes)('with %s alone, a key does what it says and no more', async (scope) => {
		const { key } = await server.newKey([scope])
		const levels = ['read', 'write', 'admin']
		const [family, verb = ''] = levels.includes(scope) ? ['', scope] : scope.split(':')
		for (const operation of operations.filter((one) => !one.public && !one.sessionOnly)) {
			const isGranted = (wanted: string) => {
				const [wantedFamily, wantedVerb = ''] = levels.includes(wanted) ? ['', wanted] : wanted.split(':')
				return family === wantedFamily && levels.indexOf(verb) >= levels.indexOf(wantedVerb)
			}
			const allowed = operation.anyScope ? operation.scopes.some(isGranted) : operation.scopes.every(isGranted)
			const body = operation.body === 'none' ? undefined : {}
			const { status } = await server.ask(operation.method, pathOf(operation, 'unknown'), { key, body })
			expect({ id: operation.id, forbidden: status === 403 }).toEqual({ id: operation.id, forbidden: !allowed })
		}
	})

	it('are each required by an operation, and public operations require none', () => {
		expect(new Set(operations.flatMap((operation) => operation.scopes))).toEqual(new Set(allScopes))
		for (const { id, public: isPublic, sessionOnly, anyScope, scopes } of operations)
			expect({ id, several: !anyScope || scopes.length > 1, none: scopes.length === 0 }).toEqual({
				id,
				several: true,
				none: isPublic === true || sessionOnly === true,
			})
	})

	it('of the integration API grant nothing in the invoicing API, nor the other way round', () => {
		const [integration, invoicing] = [
			allScopes.filter((scope) => !scope.includes(':')),
			allScopes.filter((scope) => scope.includes(':')),
		]
		for (const required of invoicing) expect(allows(new Set(integration), [required])).toBe(false)
		for (const required of integration) expect(allows(new Set(invoicing), [required])).toBe(false)
	})

	it.each([
		['read', ['read']],
		['write', ['read', 'write']],
		['admin', ['read', 'write', 'admin']],
	])('%s contains %j', (granted, contained) => {
		const levels = ['read', 'write', 'admin']
		expect(levels.filter((required) => allows(new Set([granted]), [required]))).toEqual(contained)
	})

	it('are all needed when an operation requires several', () => {
		const required = ['invoices:write', 'companies:read']
		expect(allows(new Set(['invoices:write']), required)).toBe(false)
		expect(allows(new Set(['invoices:write', 'companies:write']), required)).toBe(true)
	})
})

describe('the life of a key', () => {
	const read = (key: string) => server.ask('GET', '/api/invoices', { key })

	it.each([0, -1, 1])(
		'ends at most two seconds after its revocation, however much it is used, the clock %i days ahead',
		async (days) => {
			let [now, elapsed] = [server.clock.now, 0]
			const callers = new Callers(
				server.db,
				() => now,
				() => elapsed,
			)
			const { id, key } = await server.newKey(['invoices:read'])
			const identify = () => callers.identify({ authorization: `Bearer ${key}` }, (work) => work())
			expect(await identify()).toMatchObject({ id })
			await server.db.transaction((tx) => revokeKey(server.writing(tx, now), id, server.organizationId))
			now += days * 86_400_000
			for (elapsed = 500; elapsed < 2_000; elapsed += 500) expect(await identify()).toMatchObject({ id })
			await expect(identify()).rejects.toMatchObject({ code: 'invalid_credentials' })
		},
	)

	it('ends to the millisecond when it expires', async () => {
		const { key } = await server.newKey(['invoices:read'], { expiresAt: server.clock.now + 1_000 })
		server.clock.now += 999
		expect((await read(key)).status).toBe(200)
		server.clock.now += 1
		expect(await read(key)).toMatchObject(refused)
	})

	it('cannot be ended twice', async () => {
		const { id } = await server.newKey(['invoices:read'])
		const revoke = () => server.db.transaction((tx) => revokeKey(server.writing(tx, 5), id, server.organizationId))
		expect([await revoke(), await revoke()]).toEqual([true, false])
	})

	it('is seen in lastUsedAt, written when the server closes and not on every request', async () => {
		const tenant = await server.newTenant()
		const config = { ...readConfig({ PORT: '0', NODE_ENV: 'test' }), ...server.settings }
		const log = pino({ level: 'silent' })
		let now = server.clock.now
		const second = await startServer({ db: await openDatabase(config, log), config, log, now: () => now })
		const lastUsed = async () => (await listKeys(server.db, tenant.organizationId)).map(({ lastUsedAt }) => lastUsedAt)
		const use = () => fetch(`${second.url}/api/invoices`, { headers: { authorization: `Bearer ${tenant.key}` } })
		await use()
		now += 1_234
		await use()
		expect(await lastUsed()).toEqual([null])
		await second.close()
		expect(await lastUsed()).toEqual([now])
	})
})

describe('the database', () => {
	/** Every value of every table, as one text. */
	async function dump(): Promise<string> {
		const { DATABASE_URL, DATA_DIR } = server.settings
		if (!DATABASE_URL) {
			const file = new Sqlite(join(DATA_DIR as string, 'remit.db'), { readonly: true })
			const tables = file
				.prepare("select name from sqlite_schema where type = 'table' and name not like '%search%'")
				.pluck()
				.all()
			const rows = tables.map((name) => file.prepare(`select * from "${name}"`).all())
			file.close()
			return JSON.stringify(rows)
		}
		const client = new pg.Client(DATABASE_URL)
		await client.connect()
		const tables = await client.query("select tablename from pg_tables where schemaname = 'public'")
		const rows = []
		for (const { tablename } of tables.rows) rows.push((await client.query(`select * from "${tablename}"`)).rows)
		await client.end()
		return JSON.stringify(rows)
	}

	it('holds the hash and last four of a key, and the key nowhere', async () => {
		const { id, key } = await server.newKey(allScopes)
		const headers = { 'idempotency-key': 'with a key' }
		expect((await server.ask('POST', '/api/companies', { key, headers, body: { name: 'Acme' } })).status).toBe(201)
		const all = await dump()
		expect(all).toContain(id)
		expect(all).toContain(hash('sha256', key, 'base64url'))
		expect(all).toContain(`"${key.slice(-4)}"`)
		for (const part of [key, key.slice(4, 36), key.slice(4, 20), key.slice(20, 36)]) expect(all).not.toContain(part)
	})
})

describe('the rate limit', () => {
	const read = (key: string | null) => limited.ask('GET', '/api/invoices', { key })
	const left = (answer: { headers: Headers }) => answer.headers.get('x-ratelimit-remaining')

	it('counts each key by itself, tells how many requests are left, and answers 429 when none is', async () => {
		const [{ key: first }, { key: second }] = [await limited.newKey(allScopes), await limited.newKey(allScopes)]
		const answers = [await read(first), await read(first), await read(first)]
		expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
		expect(answers.map(left)).toEqual(['2', '1', '0'])
		const { headers, ...over } = await read(first)
		expect(over).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
		expect(headers.get('x-ratelimit-limit')).toBe('3')
		const wait = Number(headers.get('retry-after'))
		expect(wait).toBeGreaterThan(0)
		expect(wait).toBeLessThanOrEqual(60)
		const reset = Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000
		expect(Math.abs(reset - wait)).toBeLessThan(2)
		expect(left(await read(second))).toBe('2')
	})

	it('counts rejected requests too, and a request over the limit stores nothing', async () => {
		const tenant = await limited.newTenant()
		const { key } = await limited.newKey(['invoices:read'] satisfies Scope[])
		for (const expected of [403, 403, 403, 429]) {
			expect((await limited.ask('POST', '/api/invoices', { key, body: {} })).status).toBe(expected)
		}
		const statuses = []
		for (let count = 0; count < 5; count++)
			statuses.push((await tenant.ask('POST', '/api/companies', { body: { name: 'x' } })).status)
		expect(statuses).toEqual([201, 201, 201, 429, 429])
		const { key: reader } = await tenant.newKey(['companies:read'])
		expect((await tenant.ask('GET', '/api/companies', { key: reader })).body.meta.total).toBe(3)
	})

	it('counts requests without a key, or with an unknown one, by their address and leaves those with a key alone', async () => {
		const unknown = newKey().key
		const answers = [await read(null), await read(unknown), await read('nonsense'), await read(unknown), await read(null)]
		expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429])
		expect(answers.slice(0, 3).map(left)).toEqual(['2', '1', '0'])
		const { key } = await limited.newKey(allScopes)
		expect((await read(key)).status).toBe(200)
	})

	it('of 0 means no limit and no headers', async () => {
		const answers = await Promise.all(Array.from({ length: 50 }, () => server.ask('GET', '/api/invoices')))
		expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
		expect([...(answers[0]?.headers.keys() ?? [])].filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
	})
})
