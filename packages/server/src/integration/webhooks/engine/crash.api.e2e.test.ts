// Kills servers again and again while they write and deliver: afterwards every sink has every committed event.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Remit as Client } from '@remit/sdk'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it, onTestFailed, vi } from 'vitest'
import { type Change, CrashWriter, randomFrom } from '../../../../test/crash-writer.ts'
import { newDatabase, type TestDatabase } from '../../../../test/databases.ts'
import { encryptionKey } from '../../../../test/leaks.ts'
import { Remit, type Served } from '../../../../test/remit.ts'
import { Sink } from '../../../../test/sink.ts'
import type { DeliveryStatus } from '../../../generated/contract.ts'
import { deliveryIdOf } from '../../../platform/events/fan-out-store.ts'

/** The full test takes over a minute: CI runs it, and other runs do a part of it. */
const [kills, changes] = process.env.CRASH_TEST === 'full' ? [30, 5_000] : [3, 500]
/** How many servers share the database. */
const workers = inject('database') === 'postgres' ? 2 : 1

/** Repeats a run, as far as the machine's timing lets it. */
const seed = process.env.TEST_SEED ?? randomUUID()
const random = randomFrom(`${seed} kills`)

const folder = mkdtempSync(join(tmpdir(), 'remit-crash-'))
const patterns = ['*', 'invoice.*', 'company.*']
const sinks = patterns.map((pattern) => ({ pattern, sink: new Sink({ everyLibrary: false }) }))
let database: TestDatabase
let remit: Remit
beforeAll(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	remit = new Remit(
		{
			DATABASE_URL: database.settings.DATABASE_URL,
			DATA_DIR: database.settings.DATA_DIR || folder,
			ENCRYPTION_KEYS: encryptionKey(1),
			EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
			INVOICING_RATE_LIMIT: '0',
			INTEGRATION_RATE_LIMIT: '0',
			WEBHOOK_RETRY_SECONDS: `0${',1'.repeat(20)}`,
			// A lease lasts 15 s longer, and a killed server's deliveries wait for its end.
			WEBHOOK_TIMEOUT_SECONDS: '1',
		},
		folder,
	)
	await Promise.all(sinks.map(({ sink }) => sink.start()))
})
afterAll(async () => {
	remit.stop()
	await Promise.all(sinks.map(({ sink }) => sink.stop()))
	await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

/**
 * Reads the database past the servers. On SQLite only while no server runs, and read-only: the test must not recover the file
 * in the server's place.
 */
async function rowsOf<Row>(sql: string): Promise<Row[]> {
	const { DATABASE_URL, DATA_DIR } = database.settings
	if (!DATABASE_URL) {
		const file = new Sqlite(join(DATA_DIR, 'remit.db'), { readonly: true })
		const rows = file.prepare(sql).all() as Row[]
		file.close()
		return rows
	}
	const client = new pg.Client(DATABASE_URL)
	await client.connect()
	const { rows } = await client.query(sql)
	await client.end()
	return rows
}

/** The claims now: a killed server's results are lost, and the deliveries that it had claimed may be made again. */
const claimsNow = () =>
	rowsOf<{ id: string; lease: string }>(`select id, "leaseEnd" as lease from webhook_deliveries where "leaseEnd" is not null`)

/** Accepts events, some slowly, and fails some; returns how often the sink accepted each. */
function acceptMost(sink: Sink): Map<string, number> {
	const taken = new Map<string, number>()
	sink.answer = async ({ event }, count) => {
		if (count % 29 === 0) return { status: 500 }
		if (count % 7 === 0) await wait(100)
		taken.set(event.id, (taken.get(event.id) ?? 0) + 1)
		return { status: 204 }
	}
	return taken
}

async function subscribe(client: Client, { sink, pattern }: (typeof sinks)[number]) {
	const id = await sink.subscribe(client, pattern)
	return { id, sink, pattern, taken: acceptMost(sink) }
}

/** Makes the changes in one part per kill, and kills a server at a random moment of each; returns the claims at the kills. */
async function writeThroughKills(writer: CrashWriter, servers: Served[]): Promise<Set<string>> {
	const claims = new Set<string>()
	for (let kill = 0; kill < kills; kill++) {
		const soon = Promise.withResolvers<void>()
		const moment = Math.floor(random() * (changes / kills))
		const written = writer.write(Math.ceil(changes / kills), (answered) => answered > moment && soon.resolve())
		await Promise.race([soon.promise, written])
		await wait(random() * 10)
		const [victim] = servers.splice(Math.floor(random() * servers.length), 1) as [Served]
		const end = victim.end('SIGKILL')
		writer.leave(victim.url)
		await end
		for (const { id, lease } of await claimsNow()) claims.add(`${id} ${lease}`)
		servers.push(await started(writer))
		await written
	}
	return claims
}

async function started(writer: CrashWriter): Promise<Served> {
	const server = await remit.serve()
	writer.join(server.url)
	return server
}

/** Waits until all deliveries to an endpoint have succeeded: on PostgreSQL, the leases of killed servers must end first. */
async function delivered(client: Client, endpointId: string): Promise<void> {
	// One that is retried may be among neither the retries nor those under way, when these are counted one after the other.
	const count = async (status?: DeliveryStatus) =>
		(await client.webhooks.deliveries.list({ endpointId, status, limit: 1 })).meta.total ?? Number.POSITIVE_INFINITY
	const left = async () => (await count()) - (await count('succeeded'))
	await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 120_000, interval: 200 })
}

interface StoredEvent {
	readonly id: string
	readonly type: string
	readonly resourceId: string
	readonly sequence: number
	/** The text that the change wrote. */
	readonly text: string
}

/** The events of all committed changes, in their order. */
const storedEvents = () =>
	rowsOf<StoredEvent>(
		`select id, type, "resourceId", sequence, coalesce(data ->> 'notes', data ->> 'name') as text from events order by position`,
	)

/** The answered changes that left no event. */
function withoutEvent(changes: readonly Change[], events: readonly StoredEvent[]): Change[] {
	const keys = events.map(({ type, resourceId, text }) => `${type} ${resourceId}${type.endsWith('.deleted') ? '' : ` ${text}`}`)
	const left = new Set(keys)
	return changes.filter(({ event, id, text }) => !left.has(`${event} ${id}${text === undefined ? '' : ` ${text}`}`))
}

/** The events that a sink first received before an earlier event of the same record, or after a gap. */
function outOfOrder({ received }: Sink): string[] {
	const known = new Set<string>()
	const last = new Map<string, number>()
	return received.flatMap(({ event: { id, resource, sequence } }) => {
		if (known.has(id)) return []
		known.add(id)
		const before = last.get(resource.id) ?? 0
		last.set(resource.id, sequence)
		return sequence === before + 1 ? [] : [`${resource.id}: ${sequence} after ${before}`]
	})
}

/** How often each delivery may have been repeated: once for each lost answer. */
async function lostAnswers(claims: ReadonlySet<string>): Promise<Map<string, number>> {
	// An answer that came too late is lost, too.
	const late = await rowsOf<{ id: string }>('select "deliveryId" as id from webhook_attempts where "responseStatus" is null')
	const lost = new Map<string, number>()
	for (const id of [...[...claims].map((claim) => claim.split(' ', 1)[0] ?? ''), ...late.map(({ id }) => id)]) {
		lost.set(id, (lost.get(id) ?? 0) + 1)
	}
	return lost
}

it('every committed event reaches every endpoint, in order, and only an event under way at a kill may come twice', {
	timeout: 300_000,
}, async () => {
	onTestFailed(() => console.error(`TEST_SEED=${seed} repeats this run`))
	const { organizationId } = await remit.json(['organizations', 'create', '--name', 'Killed Ltd'])
	const { key } = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])
	// A server that ends by itself writes the compile cache.
	await (await remit.serve()).end('SIGTERM')
	const writer = new CrashWriter(key, randomFrom(`${seed} changes`))
	const servers = await Promise.all(Array.from({ length: workers }, () => started(writer)))
	const client = () => new Client({ apiKey: key, baseUrl: servers[0]?.url ?? '' })
	const endpoints = await Promise.all(sinks.map((one) => subscribe(client(), one)))

	const claims = await writeThroughKills(writer, servers)
	expect(writer.problems).toEqual([])
	for (const { id } of endpoints) await delivered(client(), id)
	for (const server of servers) expect(await server.end('SIGTERM')).toEqual([0, null])

	const events = await storedEvents()
	expect(withoutEvent(writer.answered, events)).toEqual([])
	expect(claims.size).toBeGreaterThan(0)
	const lost = await lostAnswers(claims)
	for (const { id, sink, pattern, taken } of endpoints) {
		const wanted = events.filter(({ type }) => pattern === '*' || type.startsWith(pattern.slice(0, -1)))
		expect([...taken.keys()].toSorted(), pattern).toEqual(wanted.map((event) => event.id).toSorted())
		expect(outOfOrder(sink), pattern).toEqual([])
		const again = [...taken].filter(([event, times]) => times > 1 + (lost.get(deliveryIdOf(event, id)) ?? 0))
		expect(again, pattern).toEqual([])
		expect(sink.problems, pattern).toEqual([])
	}
	const count = endpoints.reduce((sum, { taken }) => sum + taken.size, 0)
	const states = 'select status, cast(count(*) as integer) as count from webhook_deliveries group by status'
	expect(await rowsOf(states)).toEqual([{ status: 'succeeded', count }])
})
