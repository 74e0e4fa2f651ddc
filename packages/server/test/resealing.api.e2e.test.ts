// Everything that is sealed is sealed again while a run, callers and webhooks use it; then the old key is taken out.
import { Remit } from '@remit/sdk'
import { afterEach, expect, inject, it, vi } from 'vitest'
import { type SealedColumn, sealedColumns } from '../src/platform/outside/sealed-columns.ts'
import { openSecrets } from '../src/platform/outside/secrets.ts'
import { countSealed, isResealing, startReseal } from '../src/platform/work/sealing.ts'
import { newDatabase } from './databases.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { encryptionKey, secret } from './leaks.ts'
import { connect as connectTo } from './plans.ts'
import { Sink } from './sink.ts'
import { connect, counts, fromHubSpot, newSync } from './syncs.ts'
import { readTables } from './tables.ts'
import { always } from './vendors/faults.ts'
import { FakeHubSpot } from './vendors/hubspot.ts'

/** CI runs the full test, and other runs do a part of it. */
const [copies, records] = process.env.CRASH_TEST === 'full' ? [5_000, 3_000] : [500, 1_000]
/** How many servers share the database. */
const serverCount = inject('database') === 'postgres' ? 2 : 1
const [old, next] = [1, 2].map((byte) => encryptionKey(byte)) as [string, string]
const opened = (...keys: string[]) => openSecrets({ ENCRYPTION_KEYS: keys.join(','), DATA_DIR: '' })
const secretOfCopies = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
	for (const close of closers.reverse()) await close()
	closers = []
})

/** Copies a row, each time with an id and a sealed text of its own; returns the ids. */
async function copy(server: TestServer, column: SealedColumn, id: string, text: string, { organizationId }: Tenant) {
	const { seal } = opened(old)
	const ids = Array.from({ length: copies }, (_, n) => id.slice(0, -6) + String(n).padStart(6, '0'))
	const rows = ids.map((own) => [own, seal(column, { organizationId, id: own }, text)])
	const { ask, end } = await connectTo(server.settings)
	const { dialect } = server.db
	const columns = (await readTables(dialect, ask)).find(({ name }) => name === column.table)?.columns ?? []
	const own: Record<string, string> = { id: 'r.value ->> 0', [column.column]: 'r.value ->> 1' }
	const [given, where] = dialect === 'sqlite' ? ['json_each(?)', '?'] : ['json_array_elements($1::json)', '$2']
	await ask(
		`insert into ${column.table} (${columns.map((name) => `"${name}"`)})
			select ${columns.map((name) => own[name] ?? `c."${name}"`)} from ${column.table} c, ${given} as r where c.id = ${where}`,
		[JSON.stringify(rows), id],
	)
	await end()
	return ids
}

it('A run and all calls go on while everything is sealed again, and then without the old key', { timeout: 120_000 }, async () => {
	const hubspot = await new FakeHubSpot().start()
	const sink = await new Sink({ everyLibrary: false }).start()
	const database = await newDatabase(inject('database'), inject('template'))
	let servers: TestServer[] = []
	const close = () => Promise.all(servers.map((server) => server.close()))
	closers = [database.drop, () => hubspot.stop(), () => sink.stop(), close]
	/** Restarts the servers with these keys; returns the first. */
	const serve = async (...keys: string[]) => {
		await close()
		const settings = { ...database.settings, ...hubspot.settings, ENCRYPTION_KEYS: keys.join(',') }
		servers = []
		for (let n = 0; n < serverCount; n++) servers.push(await startTestServer(settings))
		for (const { clock } of servers) clock.now = servers[0]?.clock.now as number
		return servers[0] as TestServer
	}
	const at = (server: TestServer, of = tenant): Tenant => ({ ...of, remit: new Remit({ apiKey: of.key, baseUrl: server.url }) })

	let server = await serve(old)
	const tenant = await server.newTenant()
	// Of the other, so that events of the run need not look through its endpoints.
	const other = await server.newTenant()
	const connectionId = await connect(tenant, 'hubspot', hubspot)
	const { id: connection } = await other.remit.connections.create({
		...{ provider: 'http_json', name: 'Copied', authType: 'api_key', credentials: { apiKey: secret('key-of-acme-0123456789') } },
		config: { baseUrl: 'http://127.0.0.1:1' },
	})
	const { id: endpoint } = await other.remit.webhooks.endpoints.create({ url: sink.url, eventTypes: ['deal.deleted'] })
	await sink.subscribe(tenant.remit, 'sync.run.*')
	const credentials = JSON.stringify({ apiKey: secret('key-of-acme-0123456789') })
	const connections = await copy(server, sealedColumns.connectionCredentials, connection, credentials, other)
	const endpoints = await copy(server, sealedColumns.webhookSecret, endpoint, secretOfCopies, other)
	for (let n = 0; n < records; n++) hubspot.seed('companies', 1, { at: server.clock.now - 900_000_000 + n * 60_000 })

	server = await serve(next, old)
	hubspot.clock = () => server.clock.now
	hubspot.meet(always({ kind: 'slow', ms: 50 }), ({ path }) => path.includes('/objects/'))
	const sync = await newSync(server, at(server), connectionId, fromHubSpot)
	await at(server).remit.syncs.run(sync.id)
	await vi.waitUntil(async () => (await sync.lastRun()).progress.read > 0, { timeout: 20_000, interval: 5 })
	await startReseal(server.db, opened(next, old), server.clock.now)
	let together = 0
	for (let n = 0; await isResealing(server.db, opened(next, old)); n++) {
		if ((await sync.lastRun()).finishedAt === null) together++
		const { remit } = at(servers[n % serverCount] as TestServer, other)
		const tested = await remit.connections.test(connections[(n * 7) % copies] as string)
		// A key that does not open would be `credentials_lost`; here nobody listens.
		expect(tested.lastError).toMatchObject({ code: 'unreachable' })
		await remit.webhooks.endpoints.rotateSecret(endpoints[(n * 7) % copies] as string)
	}
	expect(together).toBeGreaterThan(0)
	await vi.waitUntil(async () => (await sync.lastRun()).finishedAt, { timeout: 60_000, interval: 20 })
	const run = await sync.lastRun()
	expect(run).toMatchObject({ status: 'succeeded', attempt: 1, error: null })
	expect(counts(run)).toEqual({ read: records, created: records })
	const { keys, ...wrong } = await countSealed(server.db, opened(next, old), true)
	expect(wrong).toEqual({ unknown: 0, broken: 0, unbound: 0 })
	expect(keys.map(({ values }) => values)).toEqual([expect.toSatisfy((values: number) => values > 2 * copies), 0])

	server = await serve(next)
	hubspot.clock = () => server.clock.now
	hubspot.meet([])
	sink.secrets.push(secretOfCopies)
	const { remit } = at(server)
	const { remit: ofOther } = at(server, other)
	hubspot.companies.change(hubspot.companies.list()[0]?.id as string, { name: 'Renamed' })
	await remit.syncs.run(sync.id)
	const runs = async () => (await remit.syncs.runs.list(sync.id)).data.map(({ status }) => status)
	await expect.poll(runs, { timeout: 20_000 }).toEqual(['succeeded', 'succeeded'])
	for (const n of [0, 1, copies - 1]) {
		expect((await ofOther.connections.test(connections[n] as string)).lastError).toMatchObject({ code: 'unreachable' })
		await ofOther.webhooks.endpoints.test(endpoints[n] as string)
	}
	const arrived = () => sink.received.map(({ event }) => event.type).sort()
	const ofRuns = ['started', 'succeeded'].flatMap((step) => [`sync.run.${step}`, `sync.run.${step}`])
	await expect.poll(arrived, { timeout: 20_000 }).toEqual([...ofRuns, 'webhook.test', 'webhook.test', 'webhook.test'])
	expect(sink.problems).toEqual([])
})
