// Calls to misbehaving providers, and what they say of their connection.
import { createGzip, gzipSync } from 'node:zlib'
import type { ConnectionConfig } from '@remit/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import type { Tenant } from '../../../../test/harness.ts'
import { secret } from '../../../../test/leaks.ts'
import { FakeProvider } from '../../../../test/provider.ts'
import { failureOf, type RecordServer, readAll, startRecordServer } from '../../../../test/record-context.ts'
import { openEgress } from '../../../platform/outside/egress.ts'
import {
	CannotDo,
	findRecords,
	type ObjectKey,
	readPage,
	readRecord,
	removeRecord,
	UnknownObject,
	writeRecord,
} from './records.ts'

const apiKey = secret('of-acme')

let provider: FakeProvider
let records: RecordServer
let tenant: Tenant
beforeAll(async () => {
	provider = await new FakeProvider().start()
	records = await startRecordServer({ PROVIDER_STRIPE_BASE_URL: provider.url })
})
beforeEach(async () => {
	tenant = await records.server.newTenant()
	provider.answers([])
	provider.requests.length = 0
})
afterAll(async () => {
	await records.close()
	await provider.stop()
})

const customers: NonNullable<ConnectionConfig['objects']>[0] = {
	...{ name: 'customers', path: '/customers', idField: 'id', pagination: { style: 'none' }, readPath: '/customers/{id}' },
	create: { method: 'POST', path: '/customers' },
	update: { method: 'PATCH', path: '/customers/{id}' },
	remove: { method: 'DELETE', path: '/customers/{id}' },
}

const connect = async (config: Partial<ConnectionConfig> = {}): Promise<ObjectKey> => {
	const all = { baseUrl: provider.url, objects: [customers], ...config }
	const connectionId = await records.newConnection(tenant, { provider: 'http_json', credentials: { apiKey }, config: all })
	return { organizationId: tenant.organizationId, connectionId, object: 'customers' }
}
const first = { cursor: null, since: null, fields: [] }
const read = async (key: ObjectKey) => failureOf(readPage(records.context, key, first))
const write = (key: ObjectKey, externalId: string | null = null) =>
	writeRecord(records.context, key, { externalId, data: { name: 'Acme' }, idempotencyKey: 'k', fields: [] })
const connectionOf = ({ connectionId }: ObjectKey) => tenant.remit.connections.get(connectionId)
const typesOf = async ({ connectionId }: ObjectKey) =>
	(await eventsOf(records.server, tenant, connectionId)).map(({ type }) => type.replace('connection.', ''))

describe('a failure', () => {
	it.each([
		[301, 'rejected', 'invalid_answer', 'rejected'],
		[400, 'rejected', 'rejected', 'rejected'],
		[401, 'reauth', 'unauthorized', 'reauth'],
		[403, 'rejected', 'forbidden', 'rejected'],
		[408, 'retry', 'provider_failed', 'unclear'],
		[409, 'rejected', 'rejected', 'rejected'],
		[425, 'retry', 'provider_failed', 'retry'],
		[429, 'limit', 'rate_limited', 'limit'],
		[500, 'retry', 'provider_failed', 'unclear'],
		[503, 'retry', 'provider_failed', 'unclear'],
	])('of status %s is %s with the code %s, and of a write %s', async (status, kind, code, ofWrite) => {
		provider.answers(status)
		expect((await read(await connect())).slice(0, 2)).toEqual([kind, code])
		expect((await failureOf(write(await connect())))[0]).toBe(ofWrite)
	})

	it('says for how long the provider wants no calls, and until then none is made', async () => {
		const key = await connect()
		provider.answer = (_, res) => res.writeHead(503, { 'retry-after': '1800' }).end()
		for (let times = 0; times < 2; times++)
			await expect(readPage(records.context, key, first)).rejects.toMatchObject({ kind: 'limit', retryAfterMs: 1_800_000 })
		expect(provider.requests).toHaveLength(1)
		records.server.clock.now += 1_800_000
		provider.answers([])
		expect((await readPage(records.context, key, first)).records).toEqual([])
	})

	it('that asks for a day is heeded for an hour, and then asked again', async () => {
		const key = await connect()
		provider.answer = (_, res) => res.writeHead(429, { 'retry-after': '86400' }).end()
		for (let times = 1; times <= 2; times++) {
			await expect(readPage(records.context, key, first)).rejects.toMatchObject({ kind: 'limit', retryAfterMs: 3_600_000 })
			expect(provider.requests).toHaveLength(times)
			records.server.clock.now += 3_600_000
		}
	})

	it('comes before the call once a header says that none is left', async () => {
		const key = await connect()
		provider.answer = (_, res) => res.writeHead(200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }).end('[]')
		await readPage(records.context, key, first)
		await expect(readPage(records.context, key, first)).rejects.toMatchObject({ kind: 'limit', retryAfterMs: 30_000 })
		expect(provider.requests).toHaveLength(1)
	})

	it.each([
		['a page for browsers', '<!doctype html>', 'HTML'],
		['half of its JSON', '[{"id":', 'part of it'],
		['no list', '{"error":"none"}', 'no list'],
	])('is to be tried again when the answer is %s', async (_, text, words) => {
		provider.answer = (_, res) => res.end(text)
		expect(await read(await connect())).toEqual(['retry', 'invalid_answer', expect.stringContaining(words)])
	})

	it('of a write without an answer is unclear, and without a connection it may be tried again', async () => {
		provider.answer = (req) => req.socket.destroy()
		expect((await failureOf(write(await connect()))).slice(0, 2)).toEqual(['unclear', 'unreachable'])
		const nobody = await connect({ baseUrl: 'http://127.0.0.1:1' })
		expect((await failureOf(write(nobody))).slice(0, 2)).toEqual(['retry', 'unreachable'])
	})

	it('is final when the answer is larger than 8 MiB, however it comes', async () => {
		provider.answer = (_, res) => res.end(`[${'1,'.repeat(15_000_000)}1]`)
		expect((await read(await connect())).slice(0, 2)).toEqual(['rejected', 'answer_too_large'])
		let sent = 0
		provider.answer = (_, res) => {
			res.setHeader('content-encoding', 'gzip')
			const gzip = createGzip({ level: 9 })
			gzip.on('data', (chunk) => {
				sent += chunk.length
				res.write(chunk)
			})
			for (let megabytes = 0; megabytes < 64; megabytes++) gzip.write(Buffer.alloc(1024 * 1024, 32))
			gzip.end(() => res.end())
		}
		expect((await read(await connect())).slice(0, 2)).toEqual(['rejected', 'answer_too_large'])
		expect(sent).toBeLessThan(200_000)
	})

	it('is final when a redirect leads to a private address, which is not called, or the provider is at one', async () => {
		provider.answer = (_, res) => res.writeHead(302, { location: 'http://private.example/' }).end()
		expect((await read(await connect())).slice(0, 2)).toEqual(['rejected', 'invalid_answer'])
		expect(provider.requests).toHaveLength(1)
		const key = await connect()
		const lookup = async () => [{ address: '10.0.0.7', family: 4 as const }]
		const guarded = { ...records.context.services, egress: openEgress({ allowCidrs: [], lookup }) }
		const moved = readPage({ ...records.context, services: guarded }, key, first)
		expect((await failureOf(moved)).slice(0, 2)).toEqual(['rejected', 'unsafe_url'])
		expect(provider.requests).toHaveLength(1)
		await guarded.egress.close()
	})

	it('is told of a connection that is disabled or deleted, without a call', async () => {
		const key = await connect()
		await tenant.remit.connections.update(key.connectionId, { status: 'disabled' })
		expect((await read(key)).slice(0, 2)).toEqual(['off', 'connection_disabled'])
		await tenant.remit.connections.delete(key.connectionId)
		expect((await read(key)).slice(0, 2)).toEqual(['off', 'connection_deleted'])
		expect(provider.requests).toEqual([])
	})

	it('has what the provider says of a write and of a reading, in one line, without the credentials', async () => {
		provider.answer = (_, res) =>
			res.writeHead(422).end(JSON.stringify({ message: `name\nis short, ${apiKey} ${'x'.repeat(600)}` }))
		const [, , message] = await failureOf(write(await connect()))
		expect(message).toMatch(/^The provider answered 422 to POST \/\S+\. It says: name is short, … x{400,}$/)
		expect(message.length).toBeLessThan(580)
		expect((await read(await connect()))[2]).toMatch(
			/^The provider answered 422 to GET \/\S+\. It says: name is short, … x{400,}$/,
		)
	})

	it('of an object or an action that is not described is known before the call', async () => {
		const key = await connect({ objects: [{ ...customers, create: undefined, remove: undefined, readPath: undefined }] })
		await expect(readPage(records.context, { ...key, object: 'invoices' }, first)).rejects.toBeInstanceOf(UnknownObject)
		await expect(write(key)).rejects.toBeInstanceOf(CannotDo)
		await expect(removeRecord(records.context, key, '1')).rejects.toBeInstanceOf(CannotDo)
		await expect(readRecord(records.context, key, '1', [])).rejects.toBeInstanceOf(CannotDo)
		expect(provider.requests).toEqual([])
	})
})

describe('a caller', () => {
	it('who hangs up ends the call', async () => {
		provider.answer = () => {}
		const caller = new AbortController()
		const reading = readPage({ ...records.context, signal: caller.signal }, await connect(), first)
		await expect.poll(() => provider.requests.length).toBe(1)
		caller.abort(new Error('gone'))
		await expect(reading).rejects.toThrow('gone')
	})

	it('is one of few: two calls of a connection are made, eight wait, and all others are told to come back', async () => {
		const waiting: (() => void)[] = []
		provider.answer = (_, res) => void waiting.push(() => res.end('[]'))
		const key = await connect()
		const calls = Array.from({ length: 2_000 }, () =>
			readPage(records.context, key, first).then(
				() => 'read',
				(error) => error.kind,
			),
		)
		// A busy machine looks up the connection of 2,000 calls for more than a second.
		await expect.poll(() => provider.requests.length, { timeout: 15_000 }).toBe(2)
		const other = readPage(records.context, await connect(), first)
		await expect.poll(() => provider.requests.length, { timeout: 15_000 }).toBe(3)
		provider.answers([])
		for (const answer of waiting) answer()
		const outcomes = await Promise.all(calls)
		await other
		expect([outcomes.filter((kind) => kind === 'read').length, outcomes.filter((kind) => kind === 'limit').length]).toEqual([
			10, 1_990,
		])
	})
})

describe('the health of a connection', () => {
	it('follows its calls: active, degraded, active, and needing others after 401', async () => {
		const key = await connect()
		const status = async () => (await connectionOf(key)).status
		await readPage(records.context, key, first)
		expect(await status()).toBe('active')
		provider.answers(500)
		for (let times = 0; times < 3; times++) await read(key)
		expect(await connectionOf(key)).toMatchObject({ status: 'degraded', lastError: { code: 'provider_failed' } })
		provider.answers([])
		await readPage(records.context, key, first)
		expect(await status()).toBe('active')
		provider.answers(401)
		await read(key)
		expect(await connectionOf(key)).toMatchObject({ status: 'needs_reauth', lastError: { code: 'unauthorized' } })
		provider.answers([])
		await readPage(records.context, key, first)
		expect(await typesOf(key)).toEqual(['created', 'activated', 'degraded', 'recovered', 'needs_reauth', 'recovered'])
	})

	it('does not follow limits and what is wrong with one request', async () => {
		const key = await connect()
		await readPage(records.context, key, first)
		const { version } = await connectionOf(key)
		for (const status of [404, 422, 403, 429]) {
			provider.answers(status)
			await read(key)
		}
		expect(await connectionOf(key)).toMatchObject({ status: 'active', version })
	})

	it('is written every five minutes while all is well', async () => {
		const key = await connect()
		const versions = new Set<number>()
		for (let minutes = 0; minutes < 12; minutes++) {
			await readPage(records.context, key, first)
			versions.add((await connectionOf(key)).version)
			records.server.clock.now += 60_000
		}
		expect(versions.size).toBe(2)
	})
})

it('bytes are those of the socket', async () => {
	const text = JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: 'Acme' })))
	const zipped = gzipSync(text)
	provider.answer = (_, res) => res.setHeader('content-encoding', 'gzip').end(zipped)
	const { records: found, bytes } = await readAll(records.context, await connect())
	expect([found.length, bytes]).toEqual([500, zipped.length])
})

it('a look-up at Stripe quotes what it looks for', async () => {
	const number = "R-1' OR status:'paid\\"
	const connectionId = await records.newConnection(tenant, { provider: 'stripe', credentials: { apiKey } })
	const key = { organizationId: tenant.organizationId, connectionId, object: 'invoices' }
	provider.answers({ data: [{ id: 'in_1', number }], has_more: false })
	expect((await findRecords(records.context, key, { number }, [])).map(({ id }) => id)).toEqual(['in_1'])
	const asked = new URL(provider.requests[0]?.url ?? '', provider.url)
	expect([asked.pathname, asked.searchParams.get('query')]).toEqual([
		'/v1/invoices/search',
		"number:'R-1\\' OR status:\\'paid\\\\'",
	])
})
