import { describe, expect, it } from 'vitest'
import { type Cost, costLines, overBudget, overBudgetLine, tierOf } from './costs.ts'

const cost = (file: string, project: string, cpuSeconds = 1): Cost => ({ file, project, cpuSeconds })

it.each([
	['packages/server/src/platform/base/dates.test.ts', 'rules', 'rules'],
	['packages/server/src/billing/deals/deals.api.test.ts', 'sqlite', 'api on sqlite'],
	['packages/server/src/billing/deals/deals.api.test.ts', 'postgres', 'api on postgres'],
	['packages/server/src/platform/lists/lists.db.test.ts', 'postgres', 'db on postgres'],
	['packages/server/test/replans.sqlite.test.ts', 'sqlite', 'sqlite'],
	['packages/server/test/roles.postgres.test.ts', 'postgres', 'postgres'],
	['packages/server/test/smoke/browser.test.ts', 'smoke', 'smoke'],
	['packages/server/test/backup.api.e2e.test.ts', 'postgres', 'e2e'],
	['packages/web/test/walk.e2e.test.ts', 'web', 'e2e'],
])('%s in the project %s is of the tier %s', (file, project, tier) => {
	expect(tierOf(cost(file, project))).toBe(tier)
})

it('The lines have the ten dearest files, the dearest first, and the sum of each tier', () => {
	const rules = Array.from({ length: 10 }, (_, n) => cost(`${n}.test.ts`, 'rules', n / 10))
	expect(costLines([...rules, cost('a.api.test.ts', 'sqlite', 1234.56)])).toEqual([
		'CPU seconds of the dearest files:',
		' 1,234.6  a.api.test.ts (api on sqlite)',
		...[9, 8, 7, 6, 5, 4, 3, 2, 1].map((n) => `     0.${n}  ${n}.test.ts (rules)`),
		'of all:',
		'     4.5  rules, 10 files',
		' 1,234.6  api on sqlite, 1 file',
		' 1,239.1  together',
	])
})

describe('a budget', () => {
	const costs = [cost('a.test.ts', 'rules', 2), cost('b.test.ts', 'rules', 3.9), cost('c.api.test.ts', 'sqlite', 9.06)]

	it('is that of the tier, and the dearest file above it is named first', () => {
		expect(overBudget(costs, 1).map(overBudgetLine)).toEqual([
			'c.api.test.ts took 9.1 CPU s, its budget is 4',
			'b.test.ts took 3.9 CPU s, its budget is 2',
		])
	})

	it('grows with the time that the machine takes, and with how many times it may be taken', () => {
		expect(overBudget(costs, 1.95).map(({ file }) => file)).toEqual(['c.api.test.ts'])
		expect(overBudget(costs, 1, 2).map(({ file }) => file)).toEqual(['c.api.test.ts'])
		expect(overBudget(costs, 1.2, 2)).toEqual([])
	})
})
