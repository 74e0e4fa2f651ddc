import { expect, it } from 'vitest'
import { limitOf, type Measured, mostTogether, shareOfBusiest } from './model.ts'

const cost = (process: number, database: number) => ({ process, database })
const measured: Measured = {
	costs: { get: cost(100, 50), list: cost(500, 500), create: cost(600, 800) },
	serial: 2_000,
	idle: 5_000,
}
const of = (organizations: number, processes: number, databaseCores: number) =>
	limitOf(measured, { organizations, processes, databaseCores })

it('A single process is the first limit, and a second one doubles what is served', () => {
	const [one, two] = [of(10_000, 1, 32), of(10_000, 2, 32)]
	expect(one.first).toBe('processes')
	// 0.8 × 100 + 0.15 × 500 + 0.05 × 600 = 185 µs, 70 % of a second.
	expect(one.perSecond).toBeCloseTo(700_000 / 185)
	expect(two.perSecond).toBeCloseTo(2 * one.perSecond)
})

it('With many processes the database is the first limit, which more processes make lower', () => {
	expect(of(10_000, 50, 8).first).toBe('database')
	expect(of(10_000, 100, 8).perSecond).toBeLessThan(of(10_000, 50, 8).perSecond)
})

it('With few organizations the busiest one is the first limit, whatever else there is', () => {
	expect(of(1, 50, 64)).toEqual({ first: 'busiest organization', perSecond: 700_000 / (0.05 * 2_000) })
	expect(of(1, 100, 128)).toEqual(of(1, 50, 64))
})

it('The busiest of many organizations has a smaller share', () => {
	expect([1, 2, 3].map(shareOfBusiest)).toEqual([1, 1 / 1.5, 1 / (1 + 1 / 2 + 1 / 3)])
})

it('On one machine a process uses one core, and more of them share the cores with the database', () => {
	expect(mostTogether(cost(100, 20), 1, 2)).toBeCloseTo(10_000)
	expect(mostTogether(cost(100, 100), 2, 2)).toBeCloseTo(10_000)
})
