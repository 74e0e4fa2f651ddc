// Encryption keys are replaced one after the other while the server serves: what the first one sealed works throughout, and then
// without it.
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, inject, it } from 'vitest'
import { query } from '../src/platform/db/database.ts'
import { type SealedColumn, sealedColumns } from '../src/platform/outside/sealed-columns.ts'
import { openSecrets } from '../src/platform/outside/secrets.ts'
import { newDatabase, type TestDatabase } from './databases.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { encryptionKey, stripeSecret } from './leaks.ts'
import { Remit } from './remit.ts'
import { Sink } from './sink.ts'

const keys = [1, 2, 3].map((byte) => encryptionKey(byte)) as [string, string, string]
const idOf = (key: string) => openSecrets({ ENCRYPTION_KEYS: key, DATA_DIR: '' }).keyIds[0]
const folder = mkdtempSync(join(tmpdir(), 'remit-rotation-'))
const ownHeader = { name: 'X-Gateway', value: 's3cr3t-of-the-gateway' }

let database: TestDatabase
let sink: Sink
let server: TestServer
let tenant: Tenant
beforeEach(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	sink = await new Sink().start()
	return async () => {
		await server.close()
		await sink.stop()
		await database.drop()
	}
})
afterAll(() => rmSync(folder, { recursive: true }))

const BASE_URL = 'https://billing.example'

const serve = (ENCRYPTION_KEYS: string) => startTestServer({ ...database.settings, BASE_URL, ENCRYPTION_KEYS })

/** Ends the server, and starts it with other keys. */
async function restart(...newKeys: string[]): Promise<void> {
	await server.close()
	server = await serve(newKeys.join(','))
}

/** The command, beside the server. */
const secrets = (command: string, ...withKeys: string[]) =>
	new Remit({ ...environment(), ENCRYPTION_KEYS: withKeys.join(',') }, folder).json(['secrets', command])
const environment = () =>
	Object.fromEntries(Object.entries(database.settings).filter(([, value]) => value)) as Record<string, string>

const ask = (method: string, path: string, options = {}) => server.ask(method, path, { key: tenant.key, ...options })

/** An organization with each kind of what is sealed, and a look at whether all of it works. */
async function sealEverything() {
	tenant = await server.newTenant()
	const { id: endpointId, secret } = await tenant.remit.webhooks.endpoints.create({
		url: sink.url,
		eventTypes: ['company.created'],
		headers: [ownHeader],
	})
	const rotated = await tenant.remit.webhooks.endpoints.rotateSecret(endpointId)
	const { id } = (await ask('POST', '/api/invoices', { body: { totalCents: 5_000 } })).body
	const once = { headers: { 'idempotency-key': 'the link' } }
	const { url } = (await ask('POST', `/api/invoices/${id}/client-link`, once)).body
	const credentials = { secretKey: stripeSecret('rk_test'), webhookSecret: stripeSecret('whsec', 'OwnSecret0123456789') }
	await ask('PUT', '/api/organization/payment-credentials', { body: credentials })
	const { id: connectionId } = await tenant.remit.connections.create({
		...{ provider: 'http_json', name: 'Sink', authType: 'api_key', credentials: { apiKey: stripeSecret('key') } },
		config: { baseUrl: 'http://127.0.0.1:1' },
	})
	return async () => {
		// Credentials that do not open are lost; here nobody listens.
		expect((await ask('POST', `/connections/${connectionId}/test`)).body.data.lastError.code).toBe('unreachable')
		const path = `/api/invoices/${id}/client-link`
		expect((await ask('GET', path)).body.url).toBe(url)
		expect((await ask('POST', path)).body.url).toBe(url)
		expect((await server.ask('GET', `/api/invoices/public/${url.split('/').at(-1)}`, { key: null })).status).toBe(200)
		const again = await ask('POST', path, once)
		expect([again.body.url, again.headers.get('Idempotent-Replayed')]).toEqual([url, 'true'])
		// An account that does not open is 502; this webhook is only not Stripe's.
		const webhook = await fetch(`${server.url}/payments/stripe/webhook/${tenant.organizationId}`, { method: 'POST', body: '{}' })
		expect(webhook.status).toBe(400)
		for (const signing of [secret, rotated.secret]) {
			const before = sink.received.length
			sink.secrets.splice(0, sink.secrets.length, signing)
			await ask('POST', '/api/companies', { body: { name: 'Acme' } })
			await expect.poll(() => sink.received.length, { timeout: 10_000 }).toBe(before + 1)
			expect(sink.received.at(-1)?.headers).toMatchObject({ 'x-gateway': ownHeader.value })
		}
		expect(sink.problems).toEqual([])
	}
}

const heldBy = ({ keys: found }: { keys: { id: string; values: number }[] }) =>
	Object.fromEntries(found.map(({ id, values }) => [id, values]))

it('three keys hold everything one after the other, while all of it works; each older one can then be dropped', {
	timeout: 240_000,
}, async () => {
	const [first] = keys
	server = await serve(first)
	const works = await sealEverything()
	await works()
	for (const [old, next] of [
		[keys[0], keys[1]],
		[keys[1], keys[2]],
	] as const) {
		// Every server knows the next key before one seals with it.
		await restart(old, next)
		await works()
		await restart(next, old)
		const [done] = await Promise.all([secrets('rotate', next, old), works()])
		expect(done).toMatchObject({ unknown: 0, broken: 0, unbound: 0 })
		expect(heldBy(done)).toEqual({ [idOf(next)]: 7, [idOf(old)]: 0 })
		await restart(next)
		await works()
	}
	const lost = await secrets('status', first)
	expect(lost.keys).toMatchObject([
		{ id: idOf(first), seals: true, known: true, values: 0 },
		{ id: idOf(keys[2]), seals: false, known: false, values: 7 },
	])
	const withoutKey = new Remit({ ...environment(), ENCRYPTION_KEYS: first, LOG_LEVEL: 'error' }, folder)
	const { stdout } = await withoutKey.run(['secrets', 'status'])
	expect(stdout).toContain(`${idOf(keys[2])}  holds 7 values: `)
	expect(stdout).toContain('ENCRYPTION_KEYS lacks it: they cannot be read.')
	const { lines, end } = await withoutKey.serve()
	const warning = `ENCRYPTION_KEYS lacks keys that hold sealed values, which cannot be read: ${idOf(keys[2])} (7 values)`
	await expect.poll(() => lines().join('\n'), { timeout: 10_000 }).toContain(warning)
	await end('SIGTERM')
})

/** Seals as version 0.1.0 did. */
function sealAsBefore(key: string, { purpose }: SealedColumn, text: string): string {
	const nonce = randomBytes(12)
	const cipher = createCipheriv(
		'aes-256-gcm',
		Buffer.from(hkdfSync('sha256', Buffer.from(key, 'base64'), '', purpose, 32)),
		nonce,
	)
	const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
	return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

const allRows = (table: string) =>
	server.db.all(
		query<object, Record<string, string>>((knex) => knex(table).select('*')),
		{},
	)

const update = (table: string, where: object, columns: object) =>
	server.db.transaction((tx) =>
		tx.run(
			query((knex) => knex(table).where(where).update(columns)),
			{},
		),
	)

/** Brings all sealed values into the form of before; returns their number. */
async function goBack(key: string): Promise<number> {
	const { unseal } = openSecrets({ ENCRYPTION_KEYS: key, DATA_DIR: '' })
	let count = 0
	for (const column of Object.values<SealedColumn>(sealedColumns)) {
		for (const row of await allRows(column.table)) {
			const value = row[column.column]
			if (!value) continue
			const where = Object.fromEntries(column.key.map((name) => [name, row[name]]))
			const old = column === sealedColumns.clientToken ? null : sealAsBefore(key, column, unseal(column, row, value) as string)
			await update(column.table, where, { [column.column]: old })
			count++
		}
	}
	return count
}

it('what version 0.1.0 sealed works on, and after a rotation without its key; links that it made too', {
	timeout: 240_000,
}, async () => {
	const [first, second] = keys
	server = await serve(first)
	const works = await sealEverything()
	const count = await goBack(first)
	await works()
	await restart(second, first)
	await works()
	const before = await secrets('status', second, first)
	expect(heldBy(before)).toEqual({ [idOf(second)]: 0, [idOf(first)]: count })
	expect(before).toMatchObject({ unbound: count, unknown: 0, broken: 0 })
	expect(await secrets('rotate', second, first)).toMatchObject({ unbound: 0 })
	await restart(second)
	await works()
	// The old key makes no token any more.
	expect((await allRows('client_links')).map(({ nonce }) => nonce)).toContain('')
})

it('a sealed value that is copied into the row of another organization is refused', async () => {
	const [first] = keys
	server = await serve(first)
	await sealEverything()
	const owner = tenant
	const thief = await server.newTenant()
	const { id } = await thief.remit.webhooks.endpoints.create({ url: sink.url, eventTypes: ['company.created'] })
	const [victim] = (await allRows('webhook_endpoints')).filter(({ organizationId }) => organizationId === owner.organizationId)
	await update('webhook_endpoints', { id }, { secret: victim?.secret, headers: victim?.headers })
	const before = sink.received.length
	await thief.remit.companies.create({ name: 'Acme' })
	const deliveries = async () => (await thief.ask('GET', '/webhooks/deliveries')).body.data
	await expect
		.poll(async () => (await deliveries())[0]?.lastError, { timeout: 10_000 })
		.toMatch(/sealed with a key that the server no longer has/)
	expect(sink.received.length).toBe(before)
	expect(await secrets('status', first)).toMatchObject({ broken: 2 })
	await thief.remit.webhooks.endpoints.delete(id)
})

it('a rotation that was killed goes on where it was', { timeout: 240_000 }, async () => {
	const [first, second, third] = keys
	// It seals with another key, so it leaves the job to the command.
	server = await serve(`${second},${first},${third}`)
	const { organizationId } = server
	const rows = Array.from({ length: 1_500 }, (_, index) => ({
		organizationId,
		keyId: 'key_a',
		operationId: 'companies.create',
		idempotencyKey: `many ${index}`,
		requestHash: '',
		status: 200,
		headers: {},
		createdAt: server.clock.now,
	}))
	const { seal } = openSecrets({ ENCRYPTION_KEYS: first, DATA_DIR: '' })
	const insert = query<object>((knex, row) => knex('idempotency_keys').insert(row))
	await server.db.transaction(async (tx) => {
		for (const row of rows) await tx.run(insert, { ...row, body: seal(sealedColumns.keptAnswer, row, '{}') })
	})
	const lost = await secrets('status', third, second)
	expect(lost.keys.at(-1)).toEqual({
		id: idOf(first),
		seals: false,
		known: false,
		values: 1_500,
		columns: { 'idempotency_keys.body': 1_500 },
	})

	const beside = new Remit({ ...environment(), ENCRYPTION_KEYS: `${third},${first},${second}` }, folder)
	const killed = beside.run(['secrets', 'rotate'])
	const isBegun = async () => (await allRows('idempotency_keys')).some(({ body }) => body?.startsWith(idOf(third)))
	await expect.poll(isBegun, { timeout: 20_000, interval: 1 }).toBe(true)
	beside.stop()
	await killed
	const remaining = (await beside.json(['secrets', 'status'])).keys.find(({ id }: { id: string }) => id === idOf(first)).values
	expect(remaining).toBeLessThan(1_500)
	const job = (await allRows('jobs')).find(({ kind }) => kind === `secrets.reseal.${idOf(third)}`)
	if (job)
		expect(JSON.parse(job.checkpoint as string)).toMatchObject({
			column: expect.stringMatching(/^(idempotency_keys|payment_cred|client_links)/),
		})
	// A minute later the lease of the dead process ends.
	await update('jobs', {}, { leaseUntil: 0 })
	const done = await beside.json(['secrets', 'rotate'])
	expect(heldBy(done)).toMatchObject({ [idOf(first)]: 0, [idOf(second)]: 0 })
	expect(done).toMatchObject({ broken: 0, unknown: 0, unbound: 0 })
})
