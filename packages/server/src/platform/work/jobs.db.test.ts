// Jobs on a real database: when they run, what becomes of those that fail, and that two workers never have the same one.
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import type { Database } from '../db/database.ts'
import { openDatabase } from '../db/drivers/open.ts'
import { type Again, defaultLeaseMs, type Job, Worker } from './jobs.ts'
import { ensureJobs, type JobRow, listJobs, retryJobs, scheduleJob } from './jobs-store.ts'

const log = pino({ level: 'silent' })
let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

let kinds = 0
let kind: string
beforeEach(() => {
	kind = `test${++kinds}`
})

const jobs = async (): Promise<Partial<JobRow>[]> => {
	const found = await listJobs(server.db, { kind }, 1_000)
	return found.map(({ organizationId: _, kind: __, resourceId: ___, ...job }) => job)
}
const schedule = (dueAt: number, resourceId = '', organizationId = server.organizationId) =>
	server.db.transaction((tx) => scheduleJob(tx, { organizationId, kind, resourceId, dueAt }))

/** A worker for this test's kind, which looks only when it is told to. */
const workerOf = (handler: (job: Job) => Promise<Again>, db: Database = server.db) =>
	new Worker({ db, handlers: { [kind]: handler }, now: () => server.clock.now, log })

/** Another process on the database: of SQLite, which has one server, another worker on the same connection. */
async function otherProcess(): Promise<Database> {
	if (server.db.dialect === 'sqlite') return server.db
	const db = await openDatabase(server.settings as Parameters<typeof openDatabase>[0], log)
	onTestFinished(() => db.close())
	return db
}

it('A database that fails at each look is told once a second, with the number of looks', async () => {
	const lines: Record<string, unknown>[] = []
	const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
	const get = async () => Promise.reject(new Error('database or disk is full'))
	const db: Database = Object.assign(Object.create(server.db), { get })
	const worker = new Worker({ db, handlers: { [kind]: async () => undefined }, now: () => server.clock.now, log })
	for (let times = 0; times < 20; times++) await worker.turn()
	await expect
		.poll(() => lines, { timeout: 5_000 })
		.toMatchObject([{ failures: 20, err: { message: 'database or disk is full' } }])
	await worker.turn()
	await expect.poll(() => lines, { timeout: 5_000 }).toMatchObject([{ failures: 20 }, { failures: 1 }])
})

it('A job runs once when it is due, and again when it says so, with what it noted', async () => {
	const seen: unknown[] = []
	const { now } = server.clock
	const worker = workerOf(async ({ checkpoint, now }) => {
		seen.push([checkpoint, now])
		return checkpoint === null ? { dueAt: now + 10, checkpoint: 'half' } : undefined
	})
	await schedule(now + 50)
	await schedule(now + 5)
	await schedule(now + 90)
	const { organizationId } = server
	await server.db.transaction((tx) => ensureJobs(tx, { organizationId, kind, resourceIds: [''], dueAt: now }))
	await worker.drain()
	expect([seen, await jobs()]).toMatchObject([[], [{ dueAt: now + 5, attempt: 0, leaseUntil: null }]])
	server.clock.now = now + 5
	await worker.drain()
	expect(await jobs()).toMatchObject([{ dueAt: now + 15, attempt: 0, checkpoint: 'half', leaseUntil: null }])
	server.clock.now = now + 15
	await worker.drain()
	expect(seen).toEqual([
		[null, now + 5],
		['half', now + 15],
	])
	expect(await jobs()).toEqual([])
})

it('A job that is made due while it runs runs again', async () => {
	let runs = 0
	const worker = workerOf(async () => {
		if (++runs === 1) await schedule(server.clock.now)
		return undefined
	})
	await schedule(server.clock.now)
	await worker.drain()
	expect([runs, await jobs()]).toEqual([2, []])
})

it('A job that fails is stored with its error and its next attempt, later each time, and can be retried at once', async () => {
	const attempts: number[] = []
	let mend = false
	const worker = workerOf(async ({ attempt }) => {
		attempts.push(attempt)
		if (!mend) throw new Error('No route')
		return undefined
	})
	await schedule(server.clock.now)
	for (const [attempt, delay] of [5_000, 10_000, 20_000].entries()) {
		await worker.drain()
		const [job] = (await jobs()) as [JobRow]
		expect(job).toMatchObject({ attempt: attempt + 1, lastError: 'No route', leaseUntil: null })
		const wait = (job.dueAt as number) - server.clock.now
		expect(Math.abs(wait - delay)).toBeLessThanOrEqual(delay / 5)
		await worker.drain()
		expect(attempts).toHaveLength(attempt + 1)
		server.clock.now = job.dueAt as number
	}
	server.clock.now -= 1_000
	mend = true
	const retried = await server.db.transaction((tx) => retryJobs(tx, { kind }, server.clock.now))
	await worker.drain()
	expect([retried, attempts, await jobs()]).toEqual([1, [1, 2, 3, 4], []])
})

it('A job whose worker ended is taken when its lease ends, and what the late worker then writes does not count', async () => {
	const { organizationId } = server
	const note = (name: string) => (tx: Parameters<Parameters<Database['transaction']>[0]>[0]) =>
		scheduleJob(tx, { organizationId, kind: `${kind}-${name}`, resourceId: '', dueAt: 0 })
	const hanging = Promise.withResolvers<void>()
	const first = workerOf(async (job) => {
		await job.part(note('in time'), { checkpoint: 'halfway' })
		await hanging.promise
		await job.part(note('late'))
		return { dueAt: 1 }
	})
	await schedule(server.clock.now)
	await first.turn()
	await expect.poll(async () => (await jobs())[0]?.checkpoint).toBe('halfway')
	const seen: unknown[] = []
	const second = workerOf(
		async ({ attempt, checkpoint }) => {
			seen.push([attempt, checkpoint, (await jobs())[0]?.lastError])
			return undefined
		},
		await otherProcess(),
	)
	await second.drain()
	expect(seen).toEqual([])
	server.clock.now += defaultLeaseMs + 1
	await second.drain()
	hanging.resolve()
	await first.stop()
	expect(seen).toEqual([[2, 'halfway', 'Its worker ended before the job did.']])
	const counted = async (name: string) => (await listJobs(server.db, { kind: `${kind}-${name}` }, 9)).length
	expect([await jobs(), await counted('in time'), await counted('late')]).toEqual([[], 1, 0])
})

it('A job that waits for another server says that it lives, and hears it when another worker has it', async () => {
	const [waiting, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()]
	const handler = async (job: Job) => {
		job.signal.addEventListener('abort', () => ended.resolve(job.signal.reason))
		await waiting.promise
		return undefined
	}
	const { now } = server.clock
	const options = { handlers: { [kind]: handler }, now: () => server.clock.now, log, leaseMs: 300 }
	const worker = new Worker({ ...options, db: server.db })
	await schedule(now)
	await worker.turn()
	await expect.poll(async () => Number((await listJobs(server.db, { kind }, 1))[0]?.leaseUntil)).toBeGreaterThan(now + 301)
	const other = new Worker({ ...options, db: await otherProcess() })
	let reason: unknown
	void ended.promise.then((found) => {
		reason = found
	})
	// A sign of life may come before the other worker looks.
	await vi.waitUntil(async () => {
		server.clock.now += 10_000
		await other.turn()
		return reason
	})
	expect(reason).toBeInstanceOf(Error)
	waiting.resolve()
	await Promise.all([worker.stop(), other.stop()])
})

it('A lease that was taken before the clock was set back ends', async () => {
	const { now } = server.clock
	const hanging = Promise.withResolvers<void>()
	const dead = workerOf(async () => {
		await hanging.promise
		return undefined
	})
	await schedule(now)
	server.clock.now = now + 86_400_000
	await dead.turn()
	server.clock.now = now
	let runs = 0
	const worker = workerOf(async () => void runs++ as undefined)
	await worker.drain()
	expect(runs).toBe(0)
	await worker.releaseOverlong()
	await worker.drain()
	expect([runs, await jobs()]).toEqual([1, []])
	hanging.resolve()
	await dead.stop()
})

it('Two workers do all jobs, each once and no two of one at a time', async () => {
	const [running, done] = [new Set<string>(), [] as string[]]
	const handler = async ({ resourceId }: Job) => {
		expect(running.has(resourceId)).toBe(false)
		running.add(resourceId)
		await new Promise((resolve) => setImmediate(resolve))
		running.delete(resourceId)
		done.push(resourceId)
		return undefined
	}
	const all = Array.from({ length: 60 }, (_, n) => `r${n}`)
	for (const [n, id] of all.entries()) await schedule(server.clock.now, id, n % 3 ? server.organizationId : `org_${n}`)
	const workers = [workerOf(handler), workerOf(handler, await otherProcess())]
	await Promise.all(workers.map((worker) => worker.drain()))
	await Promise.all(workers.map((worker) => worker.stop()))
	expect(done.sort()).toEqual(all.sort())
	expect(await jobs()).toEqual([])
})

it('An organization with many jobs leaves room for the next one', async () => {
	const hanging = Promise.withResolvers<void>()
	const begun: string[] = []
	const worker = workerOf(async ({ organizationId }) => {
		begun.push(organizationId)
		await hanging.promise
		return undefined
	})
	for (let n = 0; n < 20; n++) await schedule(server.clock.now - 1, `many${n}`, 'org_many')
	await schedule(server.clock.now, '', 'org_one')
	await worker.turn()
	expect(begun).toContain('org_one')
	expect(begun.length).toBeGreaterThan(2)
	hanging.resolve()
	await worker.drain()
	expect(begun).toHaveLength(21)
})

it('Jobs that wait for others lend their place, and no more of them work at once than there are places', async () => {
	let [working, most, waiting] = [0, 0, 0]
	const far = Promise.withResolvers<void>()
	const work = async () => {
		most = Math.max(most, ++working)
		await server.db.transaction(async () => {})
		working--
	}
	const worker = workerOf(async (job) => {
		await work()
		waiting++
		const loan = job.lend(1)
		await far.promise
		await loan.back()
		await work()
		return undefined
	})
	const { now } = server.clock
	for (let n = 0; n < 60; n++) await schedule(now, `${n}`, `org_${n}`)
	const drained = worker.drain()
	await expect.poll(() => waiting, { timeout: 10_000 }).toBe(60)
	far.resolve()
	await drained
	expect([most <= 8, working, await jobs()]).toEqual([true, 0, []])
})
