// Kills servers again and again amid a run: it ends as one that nobody disturbed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Remit as Client } from '@remit/sdk'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newDatabase, type TestDatabase } from '../../../test/databases.ts'
import { encryptionKey } from '../../../test/leaks.ts'
import { Remit, type Served } from '../../../test/remit.ts'
import { counts, fromHubSpot } from '../../../test/syncs.ts'
import { always } from '../../../test/vendors/faults.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

/** The full test takes minutes: CI runs it, and other runs do a part of it. */
const [kills, records] = process.env.CRASH_TEST === 'full' ? [30, 20_000] : [3, 2_000]
/** How many servers share the database. */
const workers = inject('database') === 'postgres' ? 2 : 1
/** Every so many-th record cannot be written. */
const broken = 100

const folder = mkdtempSync(join(tmpdir(), 'remit-crash-'))
const hubspot = new FakeHubSpot()
let database: TestDatabase
let remit: Remit
beforeAll(async () => {
	await hubspot.start()
	database = await newDatabase(inject('database'), inject('template'))
	remit = new Remit(
		{
			...hubspot.settings,
			DATABASE_URL: database.settings.DATABASE_URL,
			DATA_DIR: database.settings.DATA_DIR || folder,
			ENCRYPTION_KEYS: encryptionKey(1),
			EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
			INTEGRATION_RATE_LIMIT: '0',
			INVOICING_RATE_LIMIT: '0',
			// The work of a killed server waits for its end.
			JOB_LEASE_SECONDS: '1',
		},
		folder,
	)
})
afterAll(async () => {
	remit.stop()
	await hubspot.stop()
	await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

it('A run whose servers are killed again and again accounts for every record once', { timeout: 600_000 }, async () => {
	const { organizationId } = await remit.json(['organizations', 'create', '--name', 'Killed Ltd'])
	const { key } = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])
	for (let n = 0; n < records; n++) {
		const name = n % broken === 7 ? '' : `Company ${n}`
		hubspot.companies.put({ name, domain: `c${n}.example` }, { at: Date.now() - 86_400_000 + n })
	}
	const servers = await Promise.all(Array.from({ length: workers }, () => remit.serve()))
	const client = () => new Client({ apiKey: key, baseUrl: servers[0]?.url ?? '' })
	const credentials = { apiKey: hubspot.token }
	const { id: connectionId } = await client().connections.create({
		provider: 'hubspot',
		name: 'H',
		authType: 'api_key',
		credentials,
	})
	await client().connections.test(connectionId)
	const { id: mappingId } = await client().mappings.create(fromHubSpot)
	const { id, runId } = await client().syncs.create({ name: 'S', connectionId, mappingId, direction: 'inbound' })
	const runNow = () => client().syncs.runs.get(id, runId as string)

	// Time enough for a server to start before the run is through.
	hubspot.meet(always({ kind: 'slow', ms: 300 }), ({ path }) => path.includes('/objects/'))
	let killed = 0
	for (let run = await runNow(); run.finishedAt === null && killed < kills; run = await runNow()) {
		const until = run.progress.read + (Math.random() * records) / kills
		while (run.finishedAt === null && run.progress.read < until) {
			await wait(5)
			run = await runNow()
		}
		await wait(Math.random() * 20)
		const [victim] = servers.splice(Math.floor(Math.random() * servers.length), 1) as [Served]
		await victim.end('SIGKILL')
		servers.push(await remit.serve())
		killed++
	}
	expect(killed).toBeGreaterThan(kills / 2)
	await expect.poll(async () => (await runNow()).finishedAt, { timeout: 240_000, interval: 100 }).not.toBeNull()
	const run = await runNow()

	const failed = records / broken
	expect(run.status).toBe('partially_succeeded')
	expect(counts(run)).toEqual({ read: records, created: records - failed, failed })
	const names: string[] = []
	for await (const company of client().companies.list({ limit: 100 })) names.push(company.name)
	expect(names.length).toBe(records - failed)
	expect(new Set(names).size).toBe(names.length)
	expect((await client().syncs.runs.errors.list(id, run.id)).meta.total).toBe(failed)
	// On PostgreSQL a reader of the feed gives the places of 20,000 events a few thousand at a time.
	const ends = async () => (await client().webhooks.events.list({ resourceId: run.id })).data.map(({ type }) => type)
	await expect.poll(ends, { timeout: 30_000 }).toEqual(['sync.run.started', 'sync.run.partially_succeeded'])
	const created: string[] = []
	for await (const { resource } of client().webhooks.events.list({ type: 'company.created', limit: 100 }))
		created.push(resource.id)
	expect([created.length, new Set(created).size]).toEqual([names.length, names.length])
	for (const server of servers) await server.end('SIGTERM')
})
