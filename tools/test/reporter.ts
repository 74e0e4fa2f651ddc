// Vitest's reporter that ends a run with what its files cost, and with what did not run.
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'
import { type Cost, costLines, overBudget, overBudgetLine } from './costs.ts'
import { isFailure, lastLine, type Sum } from './last-line.ts'
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

/** Why a test did not run: what it, or a suite around it, lacks. */
function missingOf(task: TestCase | TestSuite | TestModule): string | undefined {
	if (task.type === 'module') return undefined
	return task.meta().missing ?? missingOf(task.parent)
}

function sumOf(modules: readonly TestModule[], errors: readonly SerializedError[], pattern: RegExp | undefined): Sum {
	const tests = modules.flatMap((module) => [...module.children.allTests()])
	const isAsked = ({ fullName }: TestCase) => pattern?.test(fullName.replaceAll(' > ', ' ')) ?? true
	const states = Map.groupBy(tests, (test) => test.result().state)
	// A file whose import or hook failed may have no failed test.
	const broken = modules.filter((module) => module.state() === 'failed' && ![...module.children.allTests('failed')].length)
	return {
		passed: states.get('passed')?.length ?? 0,
		failed: (states.get('failed')?.length ?? 0) + broken.length + errors.length,
		notRun: (states.get('skipped') ?? [])
			.filter(isAsked)
			.map((test) => missingOf(test))
			.filter((missing) => missing !== undefined),
	}
}

export default class Totals implements Reporter {
	#pattern: RegExp | undefined

	onInit({ config }: Vitest): void {
		this.#pattern = config.testNamePattern
	}

	onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
		const costs = costsOf(modules)
		if (costs.length > 0) console.log(costLines(costs).join('\n'))
		holdBudgets(costs)
		const sum = sumOf(modules, errors, this.#pattern)
		console.log(lastLine(sum))
		if (isFailure(sum, process.env.CI === 'true')) process.exitCode = 1
	}
}
