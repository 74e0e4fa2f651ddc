// `pnpm bench` measures the built server beside its rivals on the same rows, and checks its targets. It writes only a temporary
// folder and, where PostgreSQL runs, scratch databases. Trust the ratios more than the figures: other work on the machine moves
// every figure, but the ratios least.

import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { capacity } from './capacity.ts'
import type { Run } from './context.ts'
import { seedSqlite } from './databases.ts'
import { idle } from './idle.ts'
import { lists } from './lists.ts'
import { driver } from './load.ts'
import type { Samples } from './measure.ts'
import { migrations } from './migrations.ts'
import { operations } from './operations.ts'
import { pages } from './pages.ts'
import { patroni } from './patroni.ts'
import { pdf } from './pdf.ts'
import { postgres } from './postgres.ts'
import { pinned } from './processes.ts'
import { publicView } from './public-view.ts'
import { copyServer } from './remit.ts'
import { print, printSummary, takePrinted } from './report.ts'
import { cleanUp, isInterrupted } from './resources.ts'
import { againstRivals } from './rivals.ts'
import { rows } from './rows.ts'
import { scale } from './scale.ts'
import { seeded } from './seed.ts'
import { stack } from './stack.ts'
import { startup } from './startup.ts'
import { syncs } from './syncs.ts'
import { tenants } from './tenants.ts'
import { timeEntries } from './time-entries.ts'
import { webhooks } from './webhooks.ts'

/** What the rivals' measurements leave for later sections. */
const measured = new Map<string, Samples>()

/** Reads and creates share their servers. */
const sections: Readonly<Record<string, (run: Run) => Promise<void>>> = {
	rivals: (run) => againstRivals(run, { reads: true, create: true }, measured),
	reads: (run) => againstRivals(run, { reads: true, create: false }, measured),
	create: (run) => againstRivals(run, { reads: false, create: true }, measured),
	'time-entries': timeEntries,
	public: publicView,
	pages,
	pdf,
	operations,
	rows,
	startup,
	postgres: (run) => postgres(run, measured),
	migrations,
	scale,
	capacity,
	tenants,
	stack,
	patroni,
	webhooks,
	idle,
	syncs,
	lists,
}

/** All but the parts of `rivals`, and what needs more than the other sections: other programs, and minutes. */
const apart = ['reads', 'create', 'stack', 'patroni']
const whole = Object.keys(sections).filter((name) => !apart.includes(name))

const usage = `pnpm bench [--only ${Object.keys(sections).join(',')}] [--rounds 5] [--seconds 2] [--connections 50]
           [--quick]          one short round of everything, to check that the benchmark runs
           [--assert]         exit with 1 when a target is missed
           [--server folder]  measure the built server of another folder than packages/server, to compare a change
           [--write]          put what each section prints into its place in docs/performance.md`

const { values: options } = parseArgs({
	options: {
		only: { type: 'string', default: whole.join(',') },
		rounds: { type: 'string' },
		seconds: { type: 'string' },
		connections: { type: 'string', default: '50' },
		quick: { type: 'boolean', default: false },
		assert: { type: 'boolean', default: false },
		server: { type: 'string' },
		write: { type: 'boolean', default: false },
		help: { type: 'boolean', default: false },
	},
})

const page = resolve(import.meta.dirname, '../../docs/performance.md')

/** Replaces what stands between the marks of a section. */
function writeSection(name: string, text: string): void {
	const [begin, end] = [`<!-- pnpm bench --only ${name} -->`, `<!-- end of ${name} -->`]
	const [before, rest] = readFileSync(page, 'utf8').split(begin)
	const after = rest?.split(end)[1]
	if (after === undefined) print(`docs/performance.md has no place for ${name}\n`)
	else writeFileSync(page, `${before}${begin}\n\n${text.trim()}\n\n${end}${after}`)
}

async function main(): Promise<void> {
	const { quick } = options
	const rounds = Number(options.rounds ?? (quick ? 1 : 5))
	const seconds = Number(options.seconds ?? (quick ? 1 : 2))
	const connections = Number(options.connections)
	const wanted = options.only.split(',')
	const unknown = wanted.filter((name) => !(name in sections))
	if (unknown.length > 0) throw new Error(`there is no section ${unknown.join(', ')}`)
	const server = copyServer('remit', options.server && resolve(options.server))
	const { database, seed } = await seedSqlite()
	const run: Run = { rounds, seconds, connections, quick, server, database, seed, key: seed.key }
	print('# Performance, as `pnpm bench` prints it\n')
	const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, ${driver}`
	print(`${machine}, ${connections} connections; ${rounds} × ${seconds} s for each server, in turns; medians of the rounds.`)
	print('Other work on the machine moves every figure, but the ratios least.')
	print(pinned ? 'Servers on core 0, driver on core 1.' : 'Not pinned to cores: there is no taskset, or one core only.')
	print(`Rows: ${seeded}.\n`)
	takePrinted()
	for (const name of wanted) {
		await sections[name]?.(run)
		const text = takePrinted()
		if (options.write) writeSection(name, `${machine}; ${rounds} rounds of ${seconds} s.\n\n${text}`)
	}
	const met = printSummary()
	if (options.assert && !met) process.exitCode = 1
}

if (options.help) print(usage)
else if (process.platform !== 'linux') print('The benchmark reads CPU time from /proc, which only Linux has.')
else {
	try {
		await main()
	} catch (error) {
		process.exitCode = 1
		if (!isInterrupted()) console.error(error)
	} finally {
		await cleanUp()
	}
}
