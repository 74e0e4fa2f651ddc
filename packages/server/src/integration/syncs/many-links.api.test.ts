// Deletions among very many links: they are looked at in parts, so that requests get in between, and a part is enough to go on from.
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { connect as connectDatabase } from '../../../test/plans.ts'
import { connect, fromHubSpot, newSync, type TestSync, toHubSpot } from '../../../test/syncs.ts'
import { type Ask, readTables } from '../../../test/tables.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { type Db, query, type Transaction } from '../../platform/db/database.ts'

const links = 20_000
let server: TestServer
let hubspot: FakeHubSpot
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	hubspot = await new FakeHubSpot().start()
	server = await startTestServer(hubspot.settings)
	hubspot.clock = () => server.clock.now
	;({ ask, end } = await connectDatabase(server.settings))
})
afterAll(async () => {
	await end()
	await server.close()
	await hubspot.stop()
})
afterEach(() => {
	vi.restoreAllMocks()
})

/** Copies of the one link of a connection, of records that nobody has. */
async function grow(connectionId: string): Promise<void> {
	const columns = (await readTables(server.db.dialect, ask)).find(({ name }) => name === 'sync_links')?.columns ?? []
	const values: Record<string, string> = { recordId: `'cmp_grown' || n`, externalId: `'grown' || n`, seenRunId: 'null' }
	const copied = columns.filter((column) => column !== 'rowid')
	const quoted = copied.map((column) => `"${column}"`).join(', ')
	const selected = copied.map((column) => values[column] ?? `"${column}"`).join(', ')
	await ask(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${links})
		insert into sync_links (${quoted})
		select ${selected} from (select * from sync_links where "connectionId" = '${connectionId}' limit 1) as source, numbers`)
	if (server.db.dialect === 'postgres') await ask('vacuum analyze sync_links')
}

async function newGrown(isInbound: boolean): Promise<TestSync> {
	const tenant = await server.newTenant()
	hubspot.companies.clear()
	if (isInbound) hubspot.seed('companies', 1, { at: server.clock.now - 86_400_000 })
	else await tenant.remit.companies.create({ name: 'One', domain: 'one.example' })
	const connectionId = await connect(tenant, 'hubspot', hubspot)
	const settings = { deletePolicy: 'delete', mode: 'full' } as const
	const sync = await newSync(server, tenant, connectionId, isInbound ? fromHubSpot : toHubSpot, settings)
	await sync.run()
	await grow(connectionId)
	return sync
}

/** How many links the statements of the server look at or change in each turn of its event loop. */
async function linksByTurn(work: () => Promise<unknown>): Promise<number[]> {
	const { db } = server
	const byTurn: number[] = []
	let [turn, isOver] = [0, false]
	const watch = () => {
		turn++
		if (!isOver) setImmediate(watch)
	}
	const note = <Result>(result: Result, links: number): Result => {
		byTurn[turn] = (byTurn[turn] ?? 0) + links
		return result
	}
	const noting = <D extends Db>({ get, all, run, ...db }: D) => ({
		...db,
		get: async (...asked: Parameters<Db['get']>) => {
			const row = await get(...asked)
			return note(row, (row as { linked?: number } | undefined)?.linked ?? 1)
		},
		all: async (...asked: Parameters<Db['all']>) => {
			const rows = await all(...asked)
			return note(rows, rows.length)
		},
		run: async (...asked: Parameters<Db['run']>) => {
			const changed = await run(...asked)
			return note(changed, changed)
		},
	})
	const { transaction } = db
	const { get, all } = noting(db)
	vi.spyOn(db, 'get').mockImplementation(get as Db['get'])
	vi.spyOn(db, 'all').mockImplementation(all as Db['all'])
	vi.spyOn(db, 'transaction').mockImplementation((change, options) =>
		transaction((tx) => change(noting(tx) as unknown as Transaction), options),
	)
	setImmediate(watch)
	await work()
	isOver = true
	return Object.values(byTurn)
}

const tooMany = {
	status: 'waiting',
	error: { code: 'too_many_deletions', detail: `${links} of ${links + 1} linked records would be deleted.` },
}

it.each([true, false])('requests get in between (inbound: %s)', { timeout: 60_000 }, async (isInbound) => {
	const sync = await newGrown(isInbound)
	const byTurn = await linksByTurn(async () => expect(await sync.run()).toMatchObject(tooMany))
	// All of them are counted, and outbound they are marked before.
	expect(byTurn.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(isInbound ? links : 2 * links)
	expect(Math.max(...byTurn)).toBeLessThan(2_000)
})

const marked = query<{ connectionId: string }, { total: number }>((knex, key) =>
	knex('sync_links').where(key).whereNotNull('goneRunId').count({ total: '*' }),
)

it('a run that is broken off amid them goes on where it was', { timeout: 60_000 }, async () => {
	const sync = await newGrown(false)
	const { db } = server
	const transaction = db.transaction.bind(db)
	const counts: number[] = []
	let isBroken = false
	let counted: Promise<{ total: number } | undefined> = Promise.resolve(undefined)
	vi.spyOn(db, 'transaction').mockImplementation(async (work, options) => {
		// One after the other: the server has transactions of its own.
		counted = counted.then(() => db.get(marked, { connectionId: sync.connectionId }))
		const total = (await counted)?.total ?? 0
		if (total > 0) counts.push(total)
		if (total > links / 2 && !isBroken) {
			isBroken = true
			throw new Error('the database is gone for a moment')
		}
		return transaction(work, options)
	})
	expect(await sync.run()).toMatchObject(tooMany)
	expect(isBroken).toBe(true)
	// No part is done twice, and none is left out.
	expect(new Set(counts).size).toBeGreaterThan(5)
	expect(counts.toSorted((a, b) => a - b)).toEqual(counts)
	expect((await db.get(marked, { connectionId: sync.connectionId }))?.total).toBe(links)
})
