// Prints tables, and the targets with whether they were met.
import { median, medianOf, ratio, type Samples } from './measure.ts'

export interface Check {
	readonly what: string
	readonly met: boolean
}

const checks: Check[] = []

/** Records whether a target was met, and returns its mark. */
export function check(what: string, met: boolean): string {
	checks.push({ what, met })
	return met ? '✓' : '✗'
}

let printed: string[] = []

export function print(text = ''): void {
	printed.push(text)
	console.log(text)
}

/** What was printed since the last call. */
export function takePrinted(): string {
	const text = printed.join('\n')
	printed = []
	return text
}

/** Prints rows under their headings as a table in Markdown. The first column is text, the others are figures. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): void {
	const widths = headings.map((heading, column) => Math.max(heading.length, 3, ...rows.map((row) => row[column]?.length ?? 0)))
	const line = (cells: readonly string[]) =>
		widths.map((width, column) => (column === 0 ? (cells[column] ?? '').padEnd(width) : (cells[column] ?? '').padStart(width)))
	const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
	print()
	for (const cells of [line(headings), rule, ...rows.map(line)]) print(`| ${cells.join(' | ')} |`)
	print()
}

/** Prints the title of a part. */
export const title = (text: string) => print(`### ${text}`)

export const figureHeadings = ['req/s', 'CPU µs/request', 'lowest–highest', 'p50 ms', 'p99 ms', 'RSS MB']

/** The cells of one server, in the order of `figureHeadings`: medians of the rounds, and the spread of the CPU time. */
export function figures(samples: Samples, name: string): string[] {
	const own = samples.get(name) ?? []
	const rss = Math.max(...own.map((sample) => sample.rss))
	const cpu = own.map(({ cpuMicros }) => cpuMicros)
	return [
		medianOf(samples, name, ({ requests, seconds }) => requests / seconds).toFixed(0),
		median(cpu).toFixed(1),
		`${Math.min(...cpu).toFixed(1)}–${Math.max(...cpu).toFixed(1)}`,
		medianOf(samples, name, ({ p50 }) => p50).toFixed(2),
		medianOf(samples, name, ({ p99 }) => p99).toFixed(2),
		rss.toFixed(0),
	]
}

/** For each rival, the ratio that Remit must reach and the one that is the goal. */
export type Targets = Readonly<Record<string, { readonly least: number; readonly goal?: number }>>

/** Prints a table of Remit and its rivals for one operation. */
export function printOperation(operation: string, samples: Samples, targets: Targets): void {
	title(operation)
	const rows = [...samples.keys()].map((name) => [name, ...figures(samples, name), ...verdict(operation, samples, name, targets)])
	table(['', ...figureHeadings, 'its CPU ÷ Remit’s', 'target', ''], rows)
}

function verdict(operation: string, samples: Samples, name: string, targets: Targets): string[] {
	const target = targets[name]
	if (!target) return []
	const reached = ratio(samples, 'remit', name)
	const goal = target.goal ? ` (goal ${target.goal})` : ''
	return [
		reached.toFixed(2),
		`≥ ${target.least}${goal}`,
		check(`${operation}: ${reached.toFixed(2)} of ${name}`, reached >= target.least),
	]
}

/** Prints the last lines, and returns whether every target was met. */
export function printSummary(): boolean {
	const missed = checks.filter(({ met }) => !met)
	title('Targets')
	print(`\n${checks.length - missed.length} of ${checks.length} targets met${missed.length > 0 ? '; not met:\n' : '.'}`)
	for (const { what } of missed) print(`- ${what}`)
	return missed.length === 0
}
