// Every change is answered, in whichever order groups and batches find room.
import fc from 'fast-check'
import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { Undone } from './errors.ts'
import { Groups } from './groups.ts'

afterEach(() => void vi.useRealTimers())

const turn = () => new Promise((done) => setImmediate(done))

interface Entry {
	readonly owner: string
	readonly work: () => Promise<void>
	readonly reject: (error: Error) => void
}

it('A change that waits in a batch is not lost when one of its organization that waits by itself finds no room', async () => {
	const entries: Entry[] = []
	let batches = 0
	const groups = new Groups<object>({
		patienceMs: 1_000,
		mostWaiting: 1,
		enter: (owner, work) =>
			new Promise((resolve, reject) => {
				entries.push({ owner, work: () => work().then(resolve), reject })
			}),
		transact: (work) => work({ first: (change) => change({}), next: async (change) => ({ value: await change({}) }) }),
		async together(jobs, failed) {
			if (batches++ > 0) return Promise.all(jobs.map(async ({ work }) => ({ value: await work({}) })))
			failed(1, new Error('no'))
			throw new Undone('no')
		},
	})
	const answers: string[] = []
	const change = (name: string, organizationId: string) =>
		groups
			.run(organizationId, async () => {}, true)
			.then(
				() => answers.push(name),
				() => answers.push(name),
			)
	const changes = [change('first of a', 'a'), change('first of b', 'b')]
	await entries.shift()?.work()
	changes.push(change('second of a', 'a'))
	// Its time was over a fraction of a millisecond early.
	entries
		.splice(
			entries.findIndex(({ owner }) => owner === 'a'),
			1,
		)[0]
		?.reject(new Error('timeout'))
	await new Promise((turn) => setImmediate(turn))
	changes.push(change('third of a', 'a'))
	for (let entry = entries.shift(); entry; entry = entries.shift()) await entry.work()
	await Promise.all(changes)
	expect(answers.sort()).toEqual(['first of a', 'first of b', 'second of a', 'third of a'])
})

it('A change whose turn another process has is in the next batch, and after that waits by itself', async () => {
	const entries: (() => Promise<void>)[] = []
	const batches: string[][] = []
	const groups = new Groups<object>({
		patienceMs: 1_000,
		mostWaiting: 1,
		enter: (_, work) =>
			new Promise((resolve) => {
				entries.push(() => work().then(resolve))
			}),
		transact: (work) => work({ first: (change) => change({}), next: async (change) => ({ value: await change({}) }) }),
		async together(jobs) {
			batches.push(jobs.map(({ organizationId }) => organizationId))
			const end = ({ organizationId, work }: (typeof jobs)[number]) =>
				organizationId === 'a' ? ('not begun' as const) : work({}).then((value) => ({ value }))
			return Promise.all(jobs.map(end))
		},
	})
	const change = (organizationId: string) => groups.run(organizationId, async () => organizationId, true)
	const first = [change('a'), change('b')]
	await turn()
	await entries.shift()?.()
	first.push(change('c'))
	await turn()
	for (; entries.length > 0; await turn()) await entries.shift()?.()
	expect(await Promise.all(first)).toEqual(['a', 'b', 'c'])
	expect(batches).toEqual([
		['a', 'b'],
		['a', 'c'],
	])
})

/** Changes that run when they are let in, and the batches and groups in which they ran. Another process has the turn of `taken`. */
function batched(taken?: { readonly organizations: string; readonly until: Promise<void> }) {
	const ran: string[][] = []
	const ends: (() => void)[] = []
	const groups = new Groups<object>({
		patienceMs: 1_000,
		mostWaiting: 1,
		enter: (_, work) => work(),
		async transact(work) {
			const group: string[] = []
			ran.push(group)
			const run = async (change: (tx: object) => Promise<unknown>) => {
				const value = (await change({})) as string
				if (taken?.organizations.includes(value[0] as string)) await taken.until
				group.push(value)
				return value
			}
			await work({ first: run, next: async (change) => ({ value: await run(change) }) })
		},
		async together(jobs) {
			const values = await Promise.all(jobs.map(({ work }) => work({}) as Promise<string>))
			ran.push(values)
			await new Promise<void>((end) => ends.push(end))
			return values.map((value) => ({ value }))
		},
	})
	const change = (name: string) => groups.run(name[0] as string, async () => name, true)
	return { ran, ends, change }
}

it('A change that comes while one of its organization is in a batch waits for the next, in its order', async () => {
	const { ran, ends, change } = batched()
	const changes = ['a1', 'b1'].map(change)
	await vi.waitFor(() => expect(ends).toHaveLength(1))
	changes.push(...['a2', 'b2', 'a3', 'b3'].map(change))
	for (const count of [1, 2, 3]) {
		await vi.waitFor(() => expect(ends).toHaveLength(count))
		ends.at(-1)?.()
	}
	await Promise.all(changes)
	expect(ran).toEqual([
		['a1', 'b1'],
		['a2', 'b2'],
		['a3', 'b3'],
	])
})

it('Many changes of an organization that come while one of it is in a batch share a transaction of their own', async () => {
	const { ran, ends, change } = batched()
	const changes = ['a1', 'b1'].map(change)
	await vi.waitFor(() => expect(ends).toHaveLength(1))
	changes.push(...['a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map(change))
	ends[0]?.()
	await Promise.all(changes)
	expect(ran).toEqual([
		['a1', 'b1'],
		['a2', 'a3', 'a4', 'a5', 'a6', 'a7'],
	])
})

it('A batch waits beside a larger one until it is worth its cost, but not for one that is slow', async () => {
	const { ran, ends, change } = batched()
	const changes = ['a', 'b', 'c'].map(change)
	await turn()
	changes.push(...['d', 'e'].map(change))
	await turn()
	expect(ran).toEqual([['a', 'b', 'c']])
	changes.push(change('f'))
	await vi.waitFor(() => expect(ran).toHaveLength(2))
	changes.push(...['g', 'h'].map(change))
	// None of the two ends.
	await vi.waitFor(() => expect(ran).toHaveLength(3))
	for (const end of ends) end()
	await Promise.all(changes)
	expect(ran).toEqual([
		['a', 'b', 'c'],
		['d', 'e', 'f'],
		['g', 'h'],
	])
})

it('Changes that wait for turns that another process has leave their places to others', async () => {
	const until = Promise.withResolvers<void>()
	const { ran, ends, change } = batched({ organizations: 'xyz', until: until.promise })
	const waiting: Promise<unknown>[] = []
	for (const name of ['x1', 'y1', 'z1']) {
		waiting.push(change(name))
		await vi.waitFor(() => expect(ran).toHaveLength(waiting.length))
	}
	const others = ['a1', 'b1'].map(change)
	await vi.waitFor(() => expect(ends).toHaveLength(1))
	ends[0]?.()
	expect(await Promise.all(others)).toEqual(['a1', 'b1'])
	until.resolve()
	expect(await Promise.all(waiting)).toEqual(['x1', 'y1', 'z1'])
})

it('A change is not lost that comes after a waiting batch has given all that it had to a group', async () => {
	const { ran, ends, change } = batched()
	const changes = ['a1', 'b1'].map(change)
	await vi.waitFor(() => expect(ends).toHaveLength(1))
	changes.push(...['x1', 'x2', 'x3', 'x4', 'x5'].map(change))
	await vi.waitFor(() => expect(ran).toContainEqual(['x1', 'x2', 'x3', 'x4', 'x5']))
	ends[0]?.()
	await Promise.all(changes)
	expect(await change('c1')).toBe('c1')
})

it('A batch begins once none runs any more, however small it is', async () => {
	const { ends, change } = batched()
	vi.useFakeTimers({ toFake: ['setTimeout'] })
	try {
		const changes = ['a', 'b', 'c'].map(change)
		await turn()
		changes.push(...['d', 'e'].map(change))
		await turn()
		expect(ends).toHaveLength(1)
		ends[0]?.()
		for (let turns = 0; turns < 10; turns++) await turn()
		expect(ends).toHaveLength(2)
		ends[1]?.()
		await Promise.all(changes)
	} finally {
		vi.useRealTimers()
	}
})

it('Every change is answered once, whatever comes together, is taken, gives up, fails or finds no room', async () => {
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
	const lockTimeout = Object.assign(new pg.DatabaseError('lock timeout', 0, 'error'), { code: '55P03' })
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.nat(99), { minLength: 40, maxLength: 40 }),
			fc.array(fc.constantFrom(0, 1, 1, 1, 1, 2, 3, 4, 5), { minLength: 30, maxLength: 90 }),
			async (chances, owners) => {
				let at = 0
				const chance = (percent: number) => (chances[at++ % chances.length] as number) < percent
				const pause = async () => {
					for (let turns = 0; chance(60) && turns < 5; turns++) await turn()
				}
				const groups = new Groups<object>({
					patienceMs: 1_000,
					mostWaiting: 1,
					async enter(_, work) {
						await pause()
						if (chance(10)) throw new Error('no room')
						await work()
					},
					async transact(work, lockMs) {
						await work({
							async first(change) {
								await pause()
								if (lockMs !== undefined && chance(50)) throw lockTimeout
								return change({})
							},
							next: async (change) => (chance(20) ? { error: new Undone('lost') } : { value: await change({}) }),
						})
						await pause()
						if (chance(10)) throw new Undone('the commit failed')
					},
					async together(jobs, failed) {
						await pause()
						if (chance(20)) {
							failed(0, new Error('no'))
							throw new Undone('no')
						}
						return Promise.all(jobs.map(async ({ work }) => (chance(30) ? 'not begun' : { value: await work({}) })))
					},
				})
				const changes: Promise<unknown>[] = []
				for (const owner of owners) {
					changes.push(groups.run(`org_${owner}`, async () => owner, owner > 0).catch(() => 'failed'))
					if (chance(30)) await pause()
				}
				let areEnded = false
				const all = Promise.all(changes).finally(() => {
					areEnded = true
				})
				for (; !areEnded; await turn()) vi.advanceTimersByTime(5)
				const ends = await all
				for (const [index, end] of ends.entries()) expect([owners[index], 'failed']).toContain(end)
			},
		),
		{ numRuns: 200 },
	)
})
