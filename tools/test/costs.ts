// What test files cost, by tier, and what they may cost. CPU, not wall time: a busy machine fails nothing.

export interface Cost {
	/** The path from the root of the repository. */
	readonly file: string
	/** Of Vitest. */
	readonly project: string
	readonly cpuSeconds: number
}

/** CPU seconds that a file may take, by its tier. */
const budgets = {
	rules: 2,
	'api on sqlite': 4,
	'api on postgres': 4,
	'db on sqlite': 4,
	'db on postgres': 4,
	sqlite: 6,
	postgres: 6,
	smoke: 20,
	e2e: 30,
}
type Tier = keyof typeof budgets

export function tierOf({ file, project }: Cost): Tier {
	if (file.endsWith('.e2e.test.ts')) return 'e2e'
	if (project === 'smoke') return 'smoke'
	if (project !== 'sqlite' && project !== 'postgres') return 'rules'
	const kind = /\.(api|db)\.test\.ts$/.exec(file)?.[1] as 'api' | 'db' | undefined
	return kind ? `${kind} on ${project}` : project
}

const rounded = (seconds: number) => seconds.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const budgetOf = (cost: Cost) => budgets[tierOf(cost)]
const dearestFirst = (costs: readonly Cost[]) => costs.toSorted((a, b) => b.cpuSeconds - a.cpuSeconds)
const row = (seconds: number, what: string) => `${rounded(seconds).padStart(8)}  ${what}`

/** The ten dearest files, and the sum of each tier. */
export function costLines(costs: readonly Cost[]): string[] {
	const tiers = Map.groupBy(costs, tierOf)
	const sum = (some: readonly Cost[] = []) => some.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0)
	return [
		'CPU seconds of the dearest files:',
		...dearestFirst(costs)
			.slice(0, 10)
			.map((cost) => row(cost.cpuSeconds, `${cost.file} (${tierOf(cost)})`)),
		'of all:',
		...[...tiers].map(([tier, some]) => row(sum(some), `${tier}, ${some.length} ${some.length === 1 ? 'file' : 'files'}`)),
		...(tiers.size > 1 ? [row(sum(costs), 'together')] : []),
	]
}

/** The files above their budgets, on a machine that takes `unit` times what the budgets were set by. */
export const overBudget = (costs: readonly Cost[], unit: number, times = 1): Cost[] =>
	dearestFirst(costs.filter((cost) => cost.cpuSeconds > budgetOf(cost) * unit * times))

export const overBudgetLine = (cost: Cost): string =>
	`${cost.file} took ${rounded(cost.cpuSeconds)} CPU s, its budget is ${budgetOf(cost)}`
