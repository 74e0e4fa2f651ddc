// A server of the version before and one of this version on one database, as during an upgrade.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { newEmptyPostgres } from './databases.ts'
import { encryptionKey } from './leaks.ts'
import { needs } from './needs.ts'
import { findPrevious, unpack } from './previous-version.ts'
import { Remit, type Served } from './remit.ts'
import { Sink } from './sink.ts'

const previous = findPrevious()

needs('history').describe(`beside ${previous?.slice(0, 12) ?? 'the version before'}`, () => {
	let database: Awaited<ReturnType<typeof newEmptyPostgres>>
	let folder: string
	let older: Remit
	let newer: Remit
	const servers: Served[] = []
	const ends = ['the older', 'the newer'] as const
	let key: string
	beforeAll(async () => {
		folder = mkdtempSync(join(tmpdir(), 'remit-previous-'))
		database = await newEmptyPostgres()
		const env = {
			...{ DATABASE_URL: database.url, DATA_DIR: folder, ENCRYPTION_KEYS: encryptionKey(), WEB: 'off' },
			...{
				INVOICING_RATE_LIMIT: '0',
				INTEGRATION_RATE_LIMIT: '0',
				EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
				NODE_OPTIONS: '--conditions=remit-source',
			},
		}
		older = new Remit(env, folder, unpack(previous as string, folder))
		newer = new Remit(env, folder)
		servers.push(await older.serve())
		const { organizationId } = await older.json(['organizations', 'create', '--name', 'Acme'])
		key = (await older.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])).key
		await create(0, '/api/companies', { name: 'Before' })
		servers.push(await newer.serve())
	})
	afterAll(async () => {
		for (const remit of [older, newer]) remit.stop()
		await database.drop()
		rmSync(folder, { recursive: true, force: true })
	})

	async function ask(server: number, method: string, path: string, body?: object, more: Record<string, string> = {}) {
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
		const response = await fetch(`${servers[server]?.url}${path}`, {
			method,
			headers,
			...(body && { body: JSON.stringify(body) }),
		})
		// biome-ignore lint/suspicious/noExplicitAny: of two versions of the contract.
		return { status: response.status, body: (await response.json()) as any }
	}

	async function create(server: number, path: string, body: object) {
		const answer = await ask(server, 'POST', path, body)
		expect(answer).toMatchObject({ status: 201 })
		return answer.body
	}

	const invoice = (server: number) =>
		create(server, '/api/invoices', { currency: 'EUR', lineItems: [{ description: 'Work', unitPriceCents: 100 }] })

	it.each([0, 1])('each reads, finds and changes what the other wrote: by %i', async (writer) => {
		const reader = 1 - writer
		const { id: companyId } = await create(writer, '/api/companies', { name: `Written by ${ends[writer]}` })
		expect((await ask(reader, 'GET', `/api/companies?search=${ends[writer]?.split(' ')[1]}`)).body.data).toMatchObject([
			{ id: companyId },
		])
		const { id } = await invoice(writer)
		expect(await ask(reader, 'PATCH', `/api/invoices/${id}`, { companyId, status: 'sent' })).toMatchObject({ status: 200 })
		expect((await ask(writer, 'GET', `/api/invoices/${id}`)).body.data).toMatchObject({
			companyId,
			status: 'sent',
			totalCents: 100,
			version: 2,
		})
	})

	it('invoices of both get the numbers of one series, without a gap', async () => {
		const made = await Promise.all(Array.from({ length: 20 }, (_, index) => invoice(index % 2)))
		const numbers = made.map(({ invoiceNumber }) => Number(/\d+$/.exec(invoiceNumber))).toSorted((a, b) => a - b)
		expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
	})

	it.each([0, 1])('a request that is repeated with its key at the other server takes effect once: first %i', async (first) => {
		const idempotency = { 'idempotency-key': `two-versions-${first}` }
		const body = { name: `Once ${first}` }
		const answers = [await ask(first, 'POST', '/api/companies', body, idempotency)]
		answers.push(await ask(1 - first, 'POST', '/api/companies', body, idempotency))
		expect(answers.map(({ status, body: { id } }) => [status, id])).toEqual(answers.map(() => [201, answers[0]?.body.id]))
		const other = await ask(1 - first, 'POST', '/api/companies', { name: 'Another' }, idempotency)
		expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
	})

	it('both give the events of both, in one order', async () => {
		const { id } = await invoice(0)
		const { id: another } = await invoice(1)
		const ids = async (server: number) => {
			const { body } = await ask(server, 'GET', '/webhooks/events?limit=100')
			return body.data.map((event: { id: string; data: { id?: string } }) => event.id)
		}
		// A reader that comes while another gives new events their places gets them with its next call.
		await expect.poll(() => ids(0)).toEqual(await ids(1))
		const told = JSON.stringify((await ask(0, 'GET', '/webhooks/events?limit=100')).body)
		for (const made of [id, another]) expect(told).toContain(made)
	})

	it('both deliver webhooks of both, each once, and neither touches what the other has under way', async () => {
		const sink = await new Sink().start()
		onTestFinished(() => sink.stop())
		const remits = servers.map(({ url }) => new Client({ apiKey: key, baseUrl: url }))
		const [one, other] = remits as [Client, Client]
		const endpoint = await sink.subscribe(other, 'company.created')
		// The host is on probation until it has answered.
		await create(0, '/api/companies', { name: 'First' })
		await expect.poll(async () => (await one.webhooks.deliveries.list({ status: 'succeeded' })).data).toHaveLength(1)
		const answer = Promise.withResolvers<{ status: number }>()
		sink.answer = () => answer.promise
		for (let n = 0; n < 60; n++) await create(n % 2, '/api/companies', { name: `Company ${n}` })
		await sink.events(26)
		// The older one is asked to pause what the newer one has under way, and the other way round.
		await one.webhooks.endpoints.update(endpoint, { status: 'paused' })
		await other.webhooks.endpoints.update(endpoint, { status: 'active' })
		answer.resolve({ status: 204 })
		const total = async (status: 'succeeded' | 'skipped') => (await other.webhooks.deliveries.list({ status })).meta.total ?? 0
		await expect.poll(async () => (await total('succeeded')) + (await total('skipped'))).toBe(61)
		await other.webhooks.endpoints.redeliver(endpoint, {})
		await expect.poll(() => total('succeeded')).toBe(61)
		expect(sink.problems).toEqual([])
		expect(sink.received.map(({ event }) => event.id).toSorted()).toEqual(
			[...new Set(sink.received.map(({ event }) => event.id))].toSorted(),
		)
		expect(sink.received).toHaveLength(61)
	})

	it('the older one that is started again serves on, or says in one line why it does not', async () => {
		await servers[0]?.end('SIGTERM')
		expect(await newer.json(['organizations', 'list'])).toHaveLength(1)
		const { code, stderr } = await older.run(['organizations', 'list'])
		if (code !== 0)
			expect(stderr).toMatch(/^The database is at migration \d+, this version of Remit knows \d+: run the newer .*\n$/)
	})
})
