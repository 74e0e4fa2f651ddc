import { expect, it } from 'vitest'
import { CallBudget } from './budget.ts'

const { signal } = new AbortController()
const caller = (organizationId: string, id: string, now = 0) => ({ organizationId, id, now: () => now, signal })

/** Calls that run until they are let go. */
function calls(budget: CallBudget) {
	const running: { owner: string; end: () => void }[] = []
	const begin = (organizationId: string, id: string, given = signal) =>
		budget
			.run({ ...caller(organizationId, id), signal: given }, () => new Promise<void>((end) => running.push({ owner: id, end })))
			.then(
				() => 'done',
				(error) => error.kind ?? error.message,
			)
	return { running, begin, owners: () => running.map(({ owner }) => owner) }
}

it('a connection has two calls at once, and those who wait come in their order', async () => {
	const { running, begin } = calls(new CallBudget())
	const all = [1, 2, 3, 4].map(() => begin('a', 'one'))
	await expect.poll(() => running.length).toBe(2)
	running[0]?.end()
	await expect.poll(() => running.length).toBe(3)
	for (let at = 1; at < 4; at++) {
		await expect.poll(() => running.length).toBeGreaterThan(at)
		running[at]?.end()
	}
	expect(await Promise.all(all)).toEqual(['done', 'done', 'done', 'done'])
})

it('an organization whose providers hang leaves room for others', async () => {
	const { running, begin, owners } = calls(new CallBudget())
	const slow = Array.from({ length: 300 }, (_, n) => begin('a', `slow ${n % 100}`))
	await expect.poll(() => running.length).toBe(8)
	const other = begin('b', 'other')
	await expect.poll(owners).toContain('other')
	for (let at = 0; at < running.length; at++) {
		running[at]?.end()
		await new Promise((resolve) => setImmediate(resolve))
	}
	const outcomes = await Promise.all(slow)
	expect([outcomes.filter((kind) => kind === 'done').length, await other]).toEqual([58, 'done'])
})

it('who waits too long, or leaves, holds nothing', async () => {
	const { running, begin } = calls(new CallBudget({ patienceMs: 30 }))
	const gone = new AbortController()
	const held = [begin('a', 'one'), begin('a', 'one')]
	const left = begin('a', 'one', gone.signal)
	const waiting = begin('a', 'one')
	gone.abort(new Error('gone'))
	expect(await Promise.all([left, waiting])).toEqual(['gone', 'limit'])
	for (const { end } of running) end()
	await Promise.all(held)
	const next = [begin('a', 'one'), begin('a', 'one')]
	await expect.poll(() => running.length).toBe(4)
	for (const { end } of running) end()
	expect(await Promise.all(next)).toEqual(['done', 'done'])
})

it('a pause ends at its time, and does not begin anew when the clock is set back', async () => {
	const budget = new CallBudget()
	const at = (now: number) => budget.run(caller('a', 'one', now), async () => 'done').catch(({ retryAfterMs }) => retryAfterMs)
	budget.hold(caller('a', 'one'), 1_000_000, 5_000)
	expect(await Promise.all([at(1_000_000), at(1_004_999), at(1_005_000), at(800_000)])).toEqual([5_000, 1, 'done', 'done'])
	budget.hold(caller('a', 'one'), 800_000, 2_000)
	expect(await Promise.all([at(800_000), at(802_000)])).toEqual([2_000, 'done'])
})

it('a pause holds requests that began before it, and their answers do not end it', async () => {
	const budget = new CallBudget()
	const at = (now: number) => budget.run(caller('a', 'one', now), async () => 'done').catch(({ kind }) => kind)
	budget.hold(caller('a', 'one'), 1_000_000, 60_000)
	expect(await at(999_000)).toBe('limit')
	budget.hold(caller('a', 'one'), 999_000, 0)
	budget.hold(caller('a', 'one'), 999_000, 1_000)
	expect(await Promise.all([at(1_059_999), at(1_060_000)])).toEqual(['limit', 'done'])
})

it('connections that hang leave their places to others, whether it is known of them or not', async () => {
	const budget = new CallBudget({ hangsMs: 0 })
	const { running, begin, owners } = calls(budget)
	const hanging = Array.from({ length: 40 }, (_, n) => begin(`org ${n}`, `slow ${n}`))
	await expect.poll(() => running.length, { timeout: 2_000 }).toBe(40)
	const between = begin('b', 'other')
	await expect.poll(owners).toContain('other')
	for (const { end } of running) end()
	await Promise.all([...hanging, between])
	// By now all of them are known to hang: none takes a place even for a moment.
	const again = Array.from({ length: 40 }, (_, n) => begin(`org ${n}`, `slow ${n}`))
	const failing = budget.run({ ...caller('c', 'failing'), isFailing: true }, async () => 'done')
	expect([await failing, owners().length]).toEqual(['done', 81])
	for (const { end } of running) end()
	await Promise.all(again)
})

it('slow answers take no more memory together than there is for all, and give it back', async () => {
	const budget = new CallBudget({ bytes: 100 })
	const owner = { ...caller('a', 'slow'), isFailing: true }
	const used = Promise.withResolvers<void>()
	const held = budget.run(
		owner,
		async (taken) => taken(80),
		() => used.promise,
	)
	const tooMuch = () =>
		budget.run({ ...owner, id: 'other' }, async (taken) => {
			taken(30)
			return 'done'
		})
	await expect(tooMuch()).rejects.toMatchObject({ code: 'timeout' })
	// One that answers at once has a place of its own, and the memory of that.
	expect(await budget.run(caller('b', 'quick'), async (taken) => taken(30))).toBeUndefined()
	used.resolve()
	await held
	expect(await budget.run({ ...owner, id: 'third' }, async (taken) => taken(30))).toBeUndefined()
})
