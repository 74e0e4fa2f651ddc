// Vitest's reporter that ends a run with what its files cost.
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { type Cost, costLines, overBudget, overBudgetLine } from './costs.ts'
import { measureUnit } from './unit.ts'

/** Off until the files have the names of the tiers: many of today's take more. */
const areBudgetsHeld = false

const costsOf = (modules: readonly TestModule[]): Cost[] =>
	modules.flatMap((module) => {
		const { cpuSeconds } = module.meta()
		if (cpuSeconds === undefined) return []
		return [{ file: relative(process.cwd(), module.moduleId), project: module.project.name, cpuSeconds }]
	})

/** Prints the files above their budgets; a file above twice its budget fails the run. */
function holdBudgets(costs: readonly Cost[]): void {
	// To know the machine takes half a second.
	if (overBudget(costs, 1).length === 0) return
	const unit = measureUnit()
	const over = overBudget(costs, unit)
	if (areBudgetsHeld) for (const cost of over) console.log(overBudgetLine(cost))
	else console.log(`${over.length} of ${costs.length} above their budgets (unit ${unit.toFixed(2)})`)
	if (areBudgetsHeld && overBudget(costs, unit, 2).length > 0) process.exitCode = 1
}

export default class Costs implements Reporter {
	onTestRunEnd(modules: readonly TestModule[]): void {
		const costs = costsOf(modules)
		if (costs.length === 0) return
		console.log(costLines(costs).join('\n'))
		holdBudgets(costs)
	}
}
