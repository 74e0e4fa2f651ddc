// PostgreSQL keeps the plan of a statement that was made while its tables were empty, until their rows have been counted.
import { beforeEach, expect, inject, it } from 'vitest'
import { findTargets } from '../src/integration/webhooks/engine/claim-store.ts'
import { completeDeliveries } from '../src/integration/webhooks/engine/queue-store.ts'
import { newDatabase, type TestDatabase } from './databases.ts'
import { startSubscriber, succeeded } from './deliveries.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { connect, plansBy, record } from './plans.ts'

let database: TestDatabase
let ask: Awaited<ReturnType<typeof connect>>['ask']
let server: TestServer
beforeEach(async () => {
	database = await newDatabase('postgres', inject('template'))
	const connection = await connect(database.settings)
	ask = connection.ask
	await ask('vacuum analyze')
	server = await startTestServer(database.settings)
	return async () => {
		await connection.end()
		await database.drop()
	}
})

const tables = ['companies', 'events', 'webhook_deliveries', 'webhook_endpoints', 'audit_log', 'api_keys', 'jobs']

it('No table is read as a whole by a statement that was planned while there were no rows', async () => {
	const org = await startSubscriber(server)
	await org.newEndpoint('company.*')
	const company = await org.change('first')
	for (let n = 0; n < 20; n++) await org.change(`name ${n}`, company)
	await org.settle(...Array(21).fill('succeeded'))
	await org.stop()
	// A connection tells what it has read when it ends, at the latest.
	await server.close()
	// The harness reads all events once.
	const read = await ask('select relname as name, seq_scan as count from pg_stat_user_tables where seq_scan > 1')
	expect(read.filter(({ name }) => tables.includes(String(name)))).toEqual([])
})

it('Nor is all of an organization read for long, by an index that knows no more than the organization', async () => {
	const create = (count: number) =>
		Promise.all(Array.from({ length: count }, (_, n) => server.remit.companies.create({ name: `Company ${n}` })))
	await create(100)
	const counted = () => ask("select from pg_stat_user_tables where relname = 'events' and analyze_count > 1")
	await expect.poll(counted, { timeout: 20_000 }).toHaveLength(1)
	await create(900)
	await server.close()
	const [row] = await ask("select sum(idx_tup_read) as entries from pg_stat_user_indexes where relname = 'events'")
	// A create reads a few; with such a plan, one of all that were created before: half a million in all.
	expect(Number(row?.entries)).toBeLessThan(100_000)
})

it('What is due brings each endpoint and its host by their keys, also by a plan that was made while there were none', async () => {
	await server.close()
	await ask('set enable_seqscan = off')
	const [plan] = await plansBy('postgres', ask, await record('postgres', (db) => findTargets(db, 0)))
	expect(plan).toMatch(/ on webhook_endpoints\s+Index Cond: \(\("organizationId" = once\.o\) AND \(id = once\.e\)\)/)
	expect(plan).toMatch(/ on webhook_hosts\s+Index Cond: \(host = p\.host\)/)
})

it('What a result lets go is found by its keys, also by a plan that was made while nothing waited', async () => {
	await server.close()
	await ask('set enable_seqscan = off')
	const [, letGo] = await plansBy(
		'postgres',
		ask,
		await record('postgres', (db) => completeDeliveries(db, [succeeded({ organizationId: 'org_1' })])),
	)
	expect(letGo).toMatch(
		/webhook_deliveries_behind.*\n.*Index Cond: \(\("organizationId" = r\."organizationId"\) AND \("endpointId" = /,
	)
	expect(letGo).not.toMatch(/(Hash|Merge) (Semi|Anti)|by_status|by_endpoint/)
})
