// Prints tables, and the targets with whether they were met.
import { medianOf, ratio, type Samples } from './measure.ts'

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

export const print = (text = '') => console.log(text)

/** Prints rows under their headings. The first column is text, the others are figures. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): void {
	const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)))
	const line = (cells: readonly string[]) =>
		cells
			.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)))
			.join('  ')
			.trimEnd()
	for (const row of [headings, ...rows]) print(`  ${line(row)}`)
}

export const figureHeadings = ['req/s', 'CPU µs/request', 'p50 ms', 'p99 ms', 'RSS MB']

/** The cells of one server, in the order of `figureHeadings`. */
export function figures(samples: Samples, name: string): string[] {
	const rss = Math.max(...(samples.get(name) ?? []).map((sample) => sample.rss))
	return [
		medianOf(samples, name, ({ requests, seconds }) => requests / seconds).toFixed(0),
		medianOf(samples, name, ({ cpuMicros }) => cpuMicros).toFixed(1),
		medianOf(samples, name, ({ p50 }) => p50).toFixed(2),
		medianOf(samples, name, ({ p99 }) => p99).toFixed(2),
		rss.toFixed(0),
	]
}

/** For each rival, the ratio that Remit must reach and the one that is the goal. */
export type Targets = Readonly<Record<string, { readonly least: number; readonly goal?: number }>>

/** Prints a table of Remit and its rivals for one operation. */
export function printOperation(title: string, samples: Samples, targets: Targets): void {
	print(title)
	const rows = [...samples.keys()].map((name) => [name, ...figures(samples, name), ...verdict(title, samples, name, targets)])
	table(['', ...figureHeadings, 'its CPU ÷ Remit’s', 'target', ''], rows)
	print()
}

function verdict(title: string, samples: Samples, name: string, targets: Targets): string[] {
	const target = targets[name]
	if (!target) return []
	const reached = ratio(samples, 'remit', name)
	const goal = target.goal ? ` (goal ${target.goal})` : ''
	return [
		reached.toFixed(2),
		`≥ ${target.least}${goal}`,
		check(`${title}: ${reached.toFixed(2)} of ${name}`, reached >= target.least),
	]
}

/** Prints the last lines, and returns whether every target was met. */
export function printSummary(): boolean {
	const missed = checks.filter(({ met }) => !met)
	print(`${checks.length - missed.length} of ${checks.length} targets met${missed.length > 0 ? '; not met:' : ''}`)
	for (const { what } of missed) print(`  ✗ ${what}`)
	return missed.length === 0
}
