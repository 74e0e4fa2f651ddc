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
