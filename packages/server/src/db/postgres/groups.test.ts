// Every change is answered, in whichever order groups and batches find room.
import { expect, it } from 'vitest'
import { Undone } from './errors.ts'
import { Groups } from './groups.ts'

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
	const turn = () => new Promise((done) => setImmediate(done))
	const first = [change('a'), change('b')]
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
