// Lists of providers that do not come to their end, or do not say all at once.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { newPeopleSync } from '../../../test/people-api.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { counts } from '../../../test/syncs.ts'
import type { ConnectionObject, SyncCreate, SyncRun } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
let provider: FakeProvider
beforeAll(async () => {
	provider = await new FakeProvider().start()
	server = await startTestServer()
})
afterAll(async () => {
	await server.close()
	await provider.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterEach(() => {
	vi.restoreAllMocks()
})

const people = (...ids: unknown[]) => ids.map((id) => ({ id, name: `P${id}` }))
const cursor = { style: 'cursor', parameter: 'after', next: 'next' } as const

/** A sync with an API whose list goes on in some way. */
async function newSync(object: Partial<ConnectionObject>, settings: Partial<SyncCreate> = {}): Promise<string> {
	provider.answers({})
	const { id, connectionId } = await newPeopleSync(tenant, provider.url, settings)
	const { config } = await tenant.remit.connections.get(connectionId)
	const objects = [{ name: 'people', path: '/people', idField: 'id', records: 'data', pagination: cursor, ...object }]
	await tenant.remit.connections.update(connectionId, { config: { ...config, objects } })
	return id
}

/** What the list answers at a place, which is empty at first. */
function lists(page: (at: string) => { data: object[]; next?: unknown }): void {
	provider.requests.length = 0
	provider.answer = (req, res) => {
		const query = new URL(req.url ?? '', provider.url).searchParams
		res.end(JSON.stringify(page(query.get('after') ?? query.get('page') ?? '')))
	}
}

async function finished(id: string): Promise<SyncRun> {
	for (;;) {
		await server.runJobs()
		const run = (await tenant.remit.syncs.runs.list(id, { limit: 1 })).data[0] as SyncRun
		if (run.finishedAt !== null || (run.status === 'waiting' && run.waitingUntil === null)) return run
		server.clock.now = Math.max(server.clock.now, run.waitingUntil ?? 0)
	}
}
const runOnce = async (id: string, mode?: 'full') => {
	server.clock.now += 1
	await tenant.remit.syncs.run(id, mode && { mode })
	return finished(id)
}
const total = async () => (await tenant.remit.companies.list()).meta.total

describe('A list without end', () => {
	it.each<[string, number, (at: number) => { data: object[]; next: unknown }]>([
		['leads back to a page before the last', 10, (at) => ({ data: people(`a${at}`, `b${at}`), next: `${(at + 1) % 3}` })],
		['has the records of two pages on ever new ones', 50, (at) => ({ data: people(at % 2, 2 + (at % 2)), next: at + 1 })],
		['has records of a few at random', 200, (at) => ({ data: people((at * 7) % 5, (at * 11) % 5), next: at + 1 })],
		['has ever new places and no records', 1_010, (at) => ({ data: [], next: at + 1 })],
	])('that %s ends the run, and deletes nothing', async (_, most, page) => {
		const id = await newSync({}, { deletePolicy: 'delete' })
		lists(() => ({ data: people('a1', 'kept', 'too') }))
		expect(counts(await runOnce(id, 'full'))).toEqual({ read: 3, created: 3 })
		lists((at) => page(Number(at)))
		const run = await runOnce(id, 'full')
		expect(run).toMatchObject({ status: 'failed', error: { code: 'list_without_end', detail: expect.stringContaining('list') } })
		expect(provider.requests.length).toBeLessThan(most)
		expect(run.progress.deleted).toBe(0)
		expect((await tenant.remit.companies.list({ search: 'Pkept' })).meta.total).toBe(1)
	})

	it('is not one in which a record comes on each page, or each page comes twice', async () => {
		const id = await newSync({})
		const pageOf = (at: number) => Array.from({ length: 9 }, (_, n) => `${Math.floor(at / 2)}-${n}`)
		lists((at) => ({ data: people('hot', ...pageOf(Number(at))), ...(Number(at) < 40 && { next: `${Number(at) + 1}` }) }))
		expect(await runOnce(id)).toMatchObject({ status: 'succeeded', progress: { pages: 41, created: 21 * 9 + 1 } })
	})

	it('is one that the provider has begun anew eight times', async () => {
		const id = await newSync({})
		provider.requests.length = 0
		provider.answer = (req, res) =>
			req.url?.includes('after=') ? res.writeHead(410).end() : res.end(JSON.stringify({ data: people(1), next: 'x' }))
		expect(await runOnce(id)).toMatchObject({ status: 'failed', error: { code: 'provider_failed' } })
		expect(provider.requests.length).toBeLessThan(20)
	})
})

it('A page that was asked for ahead is not asked for again when others have their turn', async () => {
	const id = await newSync({})
	const now = performance.now.bind(performance)
	let passed = 0
	vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
	lists((at) => {
		// Longer than a run goes on before others have their turn.
		passed += 6_000
		return { data: people(`p${at}`), ...(Number(at) < 4 && { next: `${Number(at) + 1}` }) }
	})
	expect(counts(await runOnce(id))).toEqual({ read: 5, created: 5 })
	const asked = provider.requests.map(({ url }) => new URL(url ?? '', provider.url).searchParams.get('after'))
	expect(asked).toEqual([null, '1', '2', '3', '4'])
})

describe('A record that the pages of a list hid', () => {
	let listed: unknown[] = []
	const pages = { style: 'page', parameter: 'page' } as const
	const isListed = (...ids: unknown[]) => {
		listed = ids
	}
	const deletions = async (id: string) => (await runOnce(id, 'full')).progress.deleted
	beforeEach(() => {
		isListed(1, 2, 3)
	})

	it('is not deleted, and one that two full runs have not read is', async () => {
		const id = await newSync({ pagination: pages }, { deletePolicy: 'delete' })
		lists((at) => ({ data: at === '1' ? people(...listed) : [] }))
		expect(counts(await runOnce(id, 'full'))).toEqual({ read: 3, created: 3 })
		isListed(1, 3)
		expect(await deletions(id)).toBe(0)
		isListed(1, 2, 3)
		expect(await deletions(id)).toBe(0)
		isListed(1, 3)
		expect([await deletions(id), await total()]).toEqual([0, 3])
		// A run that breaks off has read nothing of it, either way.
		provider.answers(403)
		expect(await runOnce(id, 'full')).toMatchObject({ status: 'failed' })
		lists((at) => ({ data: at === '1' ? people(...listed) : [] }))
		expect([await deletions(id), await total()]).toEqual([1, 2])
	})

	it('is asked for by its id, where that can be: 404 deletes it at once', async () => {
		const id = await newSync({ pagination: pages, readPath: '/people/{id}' }, { deletePolicy: 'delete' })
		let isThere = true
		provider.answer = (req, res) => {
			if (req.url?.endsWith('/people/2')) return void res.writeHead(isThere ? 200 : 404).end('{"id":2,"name":"P2"}')
			res.end(JSON.stringify({ data: req.url?.includes('page=1') ? people(...listed) : [] }))
		}
		await runOnce(id, 'full')
		isListed(1, 3)
		expect(await deletions(id)).toBe(0)
		isThere = false
		expect([await deletions(id), await total()]).toEqual([1, 2])
	})

	it('is not hidden where all is on one page: it is deleted at once', async () => {
		const id = await newSync({ pagination: { style: 'none' } }, { deletePolicy: 'delete' })
		lists(() => ({ data: people(...listed) }))
		await runOnce(id, 'full')
		isListed(1, 3)
		expect([await deletions(id), await total()]).toEqual([1, 2])
	})
})
