// How the database runs the queries of syncs, with 20,000 rows of each table: by an index, also for a sync that has nothing to do.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { peopleSync } from '../../../test/people-api.ts'
import { connect, plansBy, record } from '../../../test/plans.ts'
import { type Ask, readTables } from '../../../test/tables.ts'
import type { Db } from '../../platform/db/database.ts'
import { hastenJobs } from '../../platform/work/jobs-store.ts'
import { findByExternalIds, findByRecordIds } from '../mappings/link-store.ts'
import { type Failed, findError, findOpenErrors, noteError, readErrors, readOpenErrors, resolveErrors } from './error-store.ts'
import { findDecided } from './records/decision-store.ts'
import { findEnded } from './records/ended-link-store.ts'
import { findIds, findOwnRuns, markLost } from './records/internal-store.ts'
import * as links from './records/link-store.ts'
import * as lost from './records/lost-store.ts'
import { changeRun, findStoredRun, lockActiveRun, readRuns } from './run-store.ts'
import { findState, findSyncsOf, noteOfSync } from './state-store.ts'
import { syncs } from './store.ts'

const rows = 20_000
let server: TestServer
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer()
	;({ ask, end } = await connect(server.settings))
	const { id } = await server.remit.syncs.create({ ...(await peopleSync(server)), direction: 'inbound' })
	await vi.waitUntil(async () => (await server.remit.syncs.runs.list(id)).data[0]?.finishedAt, { timeout: 10_000 })
	await failOne(id)
	await grow()
})
afterAll(async () => {
	await end()
	await server.close()
})

const org = () => server.organizationId

async function failOne(syncId: string): Promise<void> {
	await server.db.transaction((tx) => noteError(tx, failed(syncId), 1))
}

const failed = (syncId: string): Failed => ({
	...{ organizationId: org(), syncId, runId: 'run_1', runBefore: '', direction: 'inbound' },
	...{ recordKey: 'x', externalId: 'x', recordId: null, errors: [] },
})

/** Copies of one row, by SQL. */
async function grow(): Promise<void> {
	const all = await readTables(server.db.dialect, ask)
	const grown: Record<string, Record<string, string>> = {
		syncs: {
			id: `'syn_' || n`,
			connectionId: `'con_' || (n % 500)`,
			createdAt: 'n',
			status: `case n % 9 when 0 then 'paused' else 'idle' end`,
		},
		sync_runs: { id: `'run_' || n`, syncId: `'syn_' || (n % 500 + 1)`, finishedAt: 'n' },
		sync_links: { recordId: `'cmp_' || n`, externalId: `'ext_' || n`, connectionId: `'con_' || (n % 5)`, lastSeenAt: 'n' },
		sync_record_errors: { id: `'rer_' || n`, runId: `'run_' || (n % 500)`, syncId: `'syn_' || (n % 500)`, recordKey: `'x' || n` },
	}
	for (const [name, values] of Object.entries(grown)) {
		const columns = all.find((table) => table.name === name)?.columns ?? []
		const copied = columns.filter((column) => column !== 'rowid')
		const selected = copied.map((column) => values[column] ?? `"${column}"`).join(', ')
		await ask(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})
			insert into ${name} (${copied.map((column) => `"${column}"`).join(', ')})
			select ${selected} from (select * from ${name} limit 1) as source, numbers`)
	}
	if (server.db.dialect === 'postgres') await ask('vacuum analyze')
}

const scope = () => ({ organizationId: org(), connectionId: 'con_1', object: 'people', kind: 'company' })
const run = () => ({ organizationId: org(), id: 'run_1' })
const ofSync = () => ({ organizationId: org(), syncId: 'syn_1' })
const page = { limit: 50, offset: 0 }
const errors = () => ({ ...ofSync(), direction: 'inbound' as const })

const unread = { runId: 'run_9', unseenBefore: 1, unseenSince: 'run_8' }

const queries: [name: string, work: (db: Db) => Promise<unknown>][] = [
	['syncs', (db) => syncs.readPage(db, org(), page)],
	['syncs by status', (db) => syncs.readPage(db, org(), { ...page, status: 'paused' })],
	['syncs by connection', (db) => syncs.readPage(db, org(), { ...page, connectionId: 'con_1' })],
	['syncs of a connection', (db) => findSyncsOf(db, org(), 'con_1')],
	['the state of a sync', (db) => findState(db, { organizationId: org(), id: 'syn_1' })],
	['the run that is under way', (db) => lockActiveRun(db, org(), 'syn_1')],
	['a run', (db) => findStoredRun(db, run())],
	['a change of a run', (db) => changeRun(db, run(), 'running', 1, { waitingUntil: 1 })],
	['runs', (db) => readRuns(db, ofSync(), page)],
	['runs after a cursor', (db) => readRuns(db, ofSync(), { ...page, after: { key: 'run_7', id: 'run_7' } })],
	['runs behind an offset, and their number', (db) => readRuns(db, ofSync(), { limit: 50, offset: 1 })],
	['errors of a run', (db) => readErrors(db, { ...ofSync(), runId: 'run_1' }, { ...page, after: { key: 'rer_1', id: 'rer_1' } })],
	[
		'errors behind an offset, and their number',
		(db) => readErrors(db, { ...ofSync(), runId: 'run_1' }, { limit: 50, offset: 1 }),
	],
	['open errors of a sync', (db) => readOpenErrors(db, ofSync(), { ...page, after: { key: 'rer_1', id: 'rer_1' } })],
	['open errors behind an offset, and their number', (db) => readOpenErrors(db, ofSync(), { limit: 50, offset: 1 })],
	['the number of open errors', (db) => noteOfSync(db, { organizationId: org(), id: 'syn_1' }, 1, {})],
	['an error', (db) => findError(db, { ...ofSync(), id: 'rer_1' })],
	['errors that are open', (db) => findOpenErrors(db, errors(), { after: 'x1', limit: 25 })],
	[
		'errors that are open, and older than a run',
		(db) => findOpenErrors(db, errors(), { after: 'x1', limit: 25, before: 'run_1' }),
	],
	['errors to resolve', (db) => resolveErrors(db, errors(), ['x1', 'x2'], 1)],
	['links by the ids of the provider', (db) => findByExternalIds(db, scope(), ['ext_1', 'ext_2'])],
	['links that ended', (db) => findEnded(db, scope(), ['ext_1', 'ext_2'])],
	['links that were decided', (db) => findDecided(db, scope(), 'syn_1', { after: 'cmp_1', limit: 25, which: 'in' })],
	['links that were decided, to go out', (db) => findDecided(db, scope(), 'syn_1', { after: '', limit: 25, which: 'out' })],
	['some of the links', (db) => lost.hasLinks(db, scope(), 20)],
	['links by the ids of Remit', (db) => findByRecordIds(db, scope(), ['cmp_1', 'cmp_2'])],
	['links to mark', (db) => links.markSeen(db, scope(), ['ext_1', 'ext_2'], 'run_1')],
	['links of records that are gone', (db) => links.markRecordsGone(db, scope(), ['cmp_1'], 'run_1')],
	['links that are lost', (db) => lost.findLost(db, scope(), { runId: 'run_1' }, { after: '' }, 25)],
	['links that were not read', (db) => lost.findLost(db, scope(), unread, { after: '', upTo: 'cmp_5' }, 25)],
	['the number of links in a part', (db) => lost.countPart(db, scope(), unread, { after: 'cmp_2', upTo: 'cmp_5' })],
	['a part of the links', (db) => lost.nextPart(db, scope(), 'cmp_2')],
	['links that are held', (db) => links.releaseHeld(db, scope(), ['ext_1', 'ext_2'], 'syn_1')],
	['links of writes without answer', (db) => links.findPendingIds(db, scope(), '', 25)],
	['a link, by either id', (db) => links.findSeen(db, scope(), 'ext_1')],
	['a list of links', (db) => links.readLinks(db, scope(), { ...page, after: { key: 'cmp_1', id: 'cmp_1' } })],
	['links in a state', (db) => links.readLinks(db, { ...scope(), isUnclear: true }, page)],
	['the link of a record', (db) => links.readLinks(db, { ...scope(), recordId: 'cmp_1', isLinked: true }, page)],
	['links behind an offset, and their number', (db) => links.readLinks(db, scope(), { limit: 50, offset: 1 })],
	['links far behind', (db) => links.readLinks(db, scope(), { limit: 50, offset: 5_001 })],
	['a change of a link', (db) => links.changeLink(db, scope(), 'cmp_1', { remoteHash: 'x' }, 1)],
	[
		'runs of a connection among others',
		(db) => findOwnRuns(db, { organizationId: org(), connectionId: 'con_1', ids: ['run_1', 'run_2'] }),
	],
	['companies by id', (db) => findIds(db, 'company', { organizationId: org(), after: 'cmp_1', limit: 25 })],
	['invoices by id', (db) => findIds(db, 'invoice', { organizationId: org(), after: 'inv_1', limit: 25 })],
	['jobs that wait for too long', (db) => hastenJobs(db, 1, 2)],
	['links without a record', (db) => markLost(db, scope(), { after: 'cmp_2', upTo: 'cmp_5' }, 'run_1')],
]

it.each(queries)('%s: by an index', async (_, work) => {
	if (server.db.dialect === 'postgres') await ask('set enable_seqscan = off')
	for (const plan of await plansBy(server.db.dialect, ask, await record(server.db.dialect, work))) {
		// A search by nothing is that for the last row.
		expect(plan).toMatch(/USING (COVERING )?INDEX|^SEARCH \w+$|Index (Only )?Scan|Bitmap Index Scan/)
		expect(plan).not.toMatch(/^SCAN (?!json_each|counted|page)|Seq Scan/m)
	}
})
