// An Idempotency-Key that comes to two processes, and what is kept for a key, which goes after a day. test/writes.api.test.ts covers
// what callers see of a key at one process.
import { hash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, holdWrites, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { encryptionKey, secret } from '../../../test/leaks.ts'
import { ApiError } from '../base/errors.ts'
import { query } from '../db/database.ts'
import { type Lookup, ResolverUnavailable } from '../outside/resolver.ts'
import { openSecrets } from '../outside/secrets.ts'
import { Idempotency, keepMs } from './idempotency.ts'
import { takeKey } from './idempotency-store.ts'

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
	const answer = { requestHash: '', status: 201, headers: {}, body: '', createdAt, expiredAt: 0, deadAt: 0, latest: createdAt }
	await server.db.transaction(async (tx) => {
		for (let n = 0; n < 450; n++) {
			const key = { organizationId: tenant.organizationId, keyId: `key_${n % 3}`, operationId: `op_${n % 2}` }
			await takeKey(tx, { ...key, ...answer, idempotencyKey: `key ${n}` })
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

it('an answer is repeated for 24 hours, and the request has its effect again after them', async () => {
	const tenant = await server.newTenant()
	const headers = { 'Idempotency-Key': 'a day' }
	const post = async () => (await tenant.ask('POST', '/api/companies', { headers, body: { name: 'Acme' } })).body.id
	const begun = server.clock.now
	const first = await post()
	server.clock.now = begun + 86_399_999
	expect(await post()).toBe(first)
	server.clock.now = begun + 86_400_000
	expect(await post()).not.toBe(first)
})

it('a refusal for want of rights is not kept: the next request with the key is judged again', async () => {
	const { key } = await server.newKey(['admin'])
	const headers = { 'Idempotency-Key': 'refused' }
	const body = { name: 'CI', scopes: ['invoices:write'] }
	const post = () => server.ask('POST', '/api-keys', { key, headers, body })
	for (const answer of [await post(), await post()]) {
		expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
		expect(answer.headers.get('idempotent-replayed')).toBeNull()
	}
})

it('of a request that is refused after it wrote, only the refusal is kept', async () => {
	const { organizationId } = await server.newTenant()
	const idempotency = new Idempotency(server.db, openSecrets({ ENCRYPTION_KEYS: encryptionKey(), DATA_DIR: '' } as never))
	const now = server.clock.now
	const key = { organizationId, keyId: 'key', operationId: 'op', idempotencyKey: 'refused' }
	const row = { requestHash: '', status: 201, headers: {}, body: '', createdAt: now, expiredAt: 0, deadAt: 0, latest: now }
	const answerTo = ({ code }: ApiError) => ({ status: 422, headers: {}, text: code })
	const request = { key, content: {}, isSecret: false, isShort: true, now, answerTo }
	const reply = await idempotency.once(request, async (tx) => {
		await takeKey(tx, { ...key, ...row, idempotencyKey: 'written before the refusal' })
		throw new ApiError('totals_mismatch', 'The totals differ.')
	})
	expect(reply).toMatchObject({ status: 422, text: 'totals_mismatch' })
	expect(await server.db.all(kept, { organizationId })).toEqual([{ idempotencyKey: 'refused' }])
})

it('what is kept of a body with credentials is no plain hash of it, and tells repetitions from others all the same', async () => {
	const tenant = await server.newTenant()
	const credentials = { apiKey: secret('key') }
	const body = { provider: 'hubspot', name: 'HubSpot', authType: 'api_key', credentials }
	const post = (sent: object, { ask }: Pick<TestServer, 'ask'> = server) =>
		ask('POST', '/connections', { key: tenant.key, headers: { 'Idempotency-Key': 'a' }, body: sent })
	const { body: made } = await post(body)
	const plain = hash('sha256', JSON.stringify({ params: {}, body }), 'base64url')
	const read = async () => (await server.db.all(hashes, { organizationId: tenant.organizationId }))[0]?.requestHash
	expect(await read()).toMatch(/^[\w-]{32}$/)
	expect((await post({ ...body, credentials: { apiKey: secret('other') } })).body.code).toBe('idempotency_key_reused')
	const keys = `${encryptionKey(9)},${server.settings.ENCRYPTION_KEYS}`
	const rotated = await startTestServer({ ...server.settings, ENCRYPTION_KEYS: keys })
	rotated.clock.now = server.clock.now
	expect((await post(body, rotated)).body).toEqual(made)
	await rotated.close()
	// What an older version stored.
	await server.db.transaction((tx) => tx.run(setHash, { organizationId: tenant.organizationId, requestHash: plain }))
	expect((await post(body)).body).toEqual(made)
})

const hashes = query<{ organizationId: string }, { requestHash: string }>((knex, key) =>
	knex('idempotency_keys').where(key).select('requestHash'),
)
const setHash = query<{ organizationId: string; requestHash: string }>((knex, { organizationId, requestHash }) =>
	knex('idempotency_keys').where({ organizationId }).update({ requestHash }),
)

describe('a key that comes to two processes', () => {
	let other: TestServer
	let tenant: Tenant
	let first: TestServer
	/** What each waits for before it has the address of an endpoint. */
	const gates = new Map<string, () => Promise<void>>()
	const lookup =
		(name: string): Lookup =>
		async () => {
			await gates.get(name)?.()
			return [{ address: '127.0.0.1', family: 4 }]
		}
	/** Keeps the next endpoint waiting at a process. */
	function hold(name: string) {
		const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
		gates.set(name, () => {
			gates.delete(name)
			begun.resolve()
			return gate.promise
		})
		return { begun: begun.promise, end: gate.resolve, fail: () => gate.reject(new ResolverUnavailable()) }
	}
	beforeAll(async () => {
		first = await startTestServer(server.settings, lookup('first'))
		other = await startTestServer(server.settings, lookup('other'))
	})
	beforeEach(async () => {
		tenant = await server.newTenant()
		for (const { clock } of [server, first, other]) clock.now = Date.now()
	})
	afterAll(async () => {
		await other.close()
		await first.close()
	})

	const post = (at: TestServer, path: string, body: object): Promise<Answer> =>
		at.ask('POST', path, { key: tenant.key, headers: { 'Idempotency-Key': 'same' }, body })
	const company = (at: TestServer, name = 'Acme') => post(at, '/api/companies', { name })
	const endpoint = (at: TestServer) =>
		post(at, '/webhooks/endpoints', { url: 'https://receiver.example', eventTypes: ['invoice.paid'] })
	const idsOf = async (path: string): Promise<string[]> =>
		(await tenant.ask('GET', path)).body.data.map(({ id }: { id: string }) => id)
	const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true'

	const waiting = query<object, object>((knex) =>
		knex.raw(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
			and query like 'insert into %'`),
	)
	/** Lets two requests look the key up and come as far as they come before either has stored it: to its row, or to one that the other has. */
	async function atOnce(...requests: (() => Promise<Answer>)[]): Promise<Answer[]> {
		const release = await holdWrites(server, 'idempotency_keys')
		const answers = Promise.all(requests.map((ask) => ask()))
		try {
			if (server.db.dialect === 'sqlite') return answers
			const count = async () => (await server.db.all(waiting, {})).length
			await expect.poll(count, { interval: 10, timeout: 10_000 }).toBe(requests.length)
		} finally {
			await release()
		}
		return answers
	}
	const expectOneEffect = async (path: string, answers: Answer[]) => {
		const done = answers.filter((answer) => answer.status === 201 && !isReplayed(answer))
		expect(await idsOf(path)).toEqual(done.map(({ body }) => body.id))
		expect(done).toHaveLength(1)
		for (const answer of answers)
			expect(isReplayed(answer) ? answer.text : answer.body.code).toBe(
				isReplayed(answer) ? done[0]?.text : done.includes(answer) ? undefined : 'idempotency_key_in_use',
			)
	}

	it('at once has its effect once, and both get its answer', async () => {
		const answers = await atOnce(
			() => company(first),
			() => company(other),
		)
		expect(answers.map(({ status }) => status)).toEqual([201, 201])
		await expectOneEffect('/api/companies', answers)
	})

	it('at once with two bodies has the effect of one, and the other is told', async () => {
		const answers = await atOnce(
			() => company(first, 'One'),
			() => company(other, 'Other'),
		)
		const [created, reused] = answers.toSorted((one, two) => one.status - two.status)
		expect(reused).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
		await expectOneEffect('/api/companies', [created as Answer])
	})

	it('at once a day after its first answer has its effect anew, once', async () => {
		const { body } = await company(first)
		await tenant.ask('DELETE', `/api/companies/${body.id}`)
		for (const { clock } of [first, other]) clock.now += keepMs
		const answers = await atOnce(
			() => company(first),
			() => company(other),
		)
		expect(answers.map(({ status }) => status)).toEqual([201, 201])
		await expectOneEffect('/api/companies', answers)
	})

	it('at once calls out for one, and the other gets its answer or is told to wait', async () => {
		const answers = await atOnce(
			() => endpoint(first),
			() => endpoint(other),
		)
		await expectOneEffect('/webhooks/endpoints', answers)
	})

	it('of a process that is gone is taken over by one of two, and of one that comes back the effect is undone', async () => {
		const held = hold('first')
		const late = endpoint(first)
		await held.begun
		expect(await endpoint(other)).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
		for (const { clock } of [server, other]) clock.now += 120_000
		const answers = await atOnce(
			() => endpoint(server),
			() => endpoint(other),
		)
		await expectOneEffect('/webhooks/endpoints', answers)
		held.end()
		const meanwhile = [1, 2, 3].map((n) => first.ask('POST', '/api/companies', { key: tenant.key, body: { name: `${n}` } }))
		expect(isReplayed(await late)).toBe(true)
		await expectOneEffect('/webhooks/endpoints', [...answers, await late])
		for (const { status } of await Promise.all(meanwhile)) expect(status).toBe(201)
	})

	it('is free for another organization while a request with it is under way', async () => {
		const held = hold('first')
		const late = endpoint(first)
		await held.begun
		const { key } = await server.newTenant()
		const body = { url: 'https://receiver.example', eventTypes: ['invoice.paid'] }
		const headers = { 'Idempotency-Key': 'same' }
		expect((await first.ask('POST', '/webhooks/endpoints', { key, headers, body })).status).toBe(201)
		held.end()
		expect((await late).status).toBe(201)
	})

	it('that was taken over stays taken when the process that comes back fails', async () => {
		const [slow, taking] = [hold('first'), hold('other')]
		const late = endpoint(first)
		await slow.begun
		other.clock.now += 120_000
		const taken = endpoint(other)
		await taking.begun
		slow.fail()
		expect((await late).status).toBe(503)
		expect(await endpoint(first)).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
		taking.end()
		await expectOneEffect('/webhooks/endpoints', [await taken])
	})
})
