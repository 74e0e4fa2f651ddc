import { describe, expect, it } from 'vitest'
import { Shares } from '../fair/shares.ts'

/** Starts work that ends when the test says so; `log` has the organizations in the order in which they were let in. */
function bench(shares: Shares) {
	const log: string[] = []
	const ends: (() => void)[] = []
	const start = (organization: string) =>
		shares.run(organization, () => {
			log.push(organization)
			return new Promise<void>((end) => ends.push(end))
		})
	const endOne = async () => {
		ends.shift()?.()
		await new Promise((turn) => setImmediate(turn))
	}
	return { log, start, endOne, endAll: () => ends.splice(0).map((end) => end()) }
}

const patienceMs = 10_000

describe('shares', () => {
	it('give an organization half of what the others leave', async () => {
		const { log, start, endOne } = bench(new Shares({ size: 6, patienceMs }))
		for (const organization of ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'd']) start(organization)
		expect(log).toEqual(['a', 'a', 'a', 'b', 'b', 'c'])
		await endOne()
		expect(log).toEqual(['a', 'a', 'a', 'b', 'b', 'c', 'd'])
		for (let left = 8; left > 0; left--) await endOne()
		expect(log).toEqual(['a', 'a', 'a', 'b', 'b', 'c', 'd', 'a', 'b'])
	})

	it('let those in who wait organization by organization, each in its order', async () => {
		const { log, start, endOne } = bench(new Shares({ size: 2, patienceMs }))
		for (const organization of ['x', 'y', 'a', 'a', 'a', 'b', 'c']) start(organization)
		for (let count = 0; count < 6; count++) await endOne()
		expect(log).toEqual(['x', 'y', 'a', 'b', 'c', 'a', 'a'])
	})

	it('let in when work fails, and whoever comes once nobody waits', async () => {
		const shares = new Shares({ size: 1, patienceMs })
		const failing = shares.run('a', () => Promise.reject(new Error('work failed')))
		const next = shares.run('b', async () => 'done')
		await expect(failing).rejects.toThrow('work failed')
		expect(await next).toBe('done')
		expect(await shares.run('a', async () => 'again')).toBe('again')
	})

	it('end a wait that takes too long, and its place in the queue', async () => {
		const { log, start, endAll } = bench(new Shares({ size: 1, patienceMs: 50 }))
		const running = start('a')
		await expect(start('b')).rejects.toThrow('timeout exceeded')
		endAll()
		await running
		expect(log).toEqual(['a'])
		start('c')
		expect(log).toEqual(['a', 'c'])
	})
})
