// `pnpm bench` measures the built server beside three rivals on the same rows, and checks its targets. It writes only a temporary
// folder and, where PostgreSQL runs, scratch databases. Trust the ratios more than the figures: other work on the machine moves
// every figure, but the ratios least.

import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Run } from './context.ts'
import { seedSqlite } from './databases.ts'
import { idle } from './idle.ts'
import { driver } from './load.ts'
import type { Samples } from './measure.ts'
import { operations } from './operations.ts'
import { pdf } from './pdf.ts'
import { postgres } from './postgres.ts'
import { pinned } from './processes.ts'
import { publicView } from './public-view.ts'
import { copyServer } from './remit.ts'
import { print, printSummary } from './report.ts'
import { cleanUp, isInterrupted } from './resources.ts'
import { againstRivals } from './rivals.ts'
import { rows } from './rows.ts'
import { seeded } from './seed.ts'
import { startup } from './startup.ts'
import { syncs } from './syncs.ts'
import { timeEntries } from './time-entries.ts'
import { webhooks } from './webhooks.ts'

const sections = [
	'reads',
	'create',
	'time-entries',
	'public',
	'pdf',
	'operations',
	'rows',
	'startup',
	'postgres',
	'webhooks',
	'idle',
	'syncs',
] as const

const usage = `pnpm bench [--only ${sections.join(',')}] [--rounds 5] [--seconds 2] [--connections 50]
           [--quick]          one short round of everything, to check that the benchmark runs
           [--assert]         exit with 1 when a target is missed
           [--server folder]  measure the built server of another folder than packages/server, to compare a change`

const { values: options } = parseArgs({
	options: {
		only: { type: 'string', default: sections.join(',') },
		rounds: { type: 'string' },
		seconds: { type: 'string' },
		connections: { type: 'string', default: '50' },
		quick: { type: 'boolean', default: false },
		assert: { type: 'boolean', default: false },
		server: { type: 'string' },
		help: { type: 'boolean', default: false },
	},
})

async function main(): Promise<void> {
	const wanted = new Set(options.only.split(','))
	const { quick } = options
	const rounds = Number(options.rounds ?? (quick ? 1 : 5))
	const seconds = Number(options.seconds ?? (quick ? 1 : 2))
	const connections = Number(options.connections)
	const server = copyServer('remit', options.server && resolve(options.server))
	const { database, seed } = await seedSqlite()
	const run: Run = { rounds, seconds, connections, quick, server, database, seed, key: seed.key }
	print('# Performance, as `pnpm bench` prints it\n')
	print(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'};`)
	print(
		`${driver}, ${connections} connections; ${rounds} × ${seconds} s for each server, in turns; medians of the rounds. Other work on the machine moves\nevery figure, but the ratios least.`,
	)
	print(pinned ? 'Servers on core 0, driver on core 1.' : 'Not pinned to cores: there is no taskset, or one core only.')
	print(`Rows: ${seeded}.\n`)
	const measured = new Map<string, Samples>()
	const parts = { reads: wanted.has('reads'), create: wanted.has('create') }
	if (parts.reads || parts.create) await againstRivals(run, parts, measured)
	if (wanted.has('time-entries')) await timeEntries(run)
	if (wanted.has('public')) await publicView(run)
	if (wanted.has('pdf')) await pdf(run)
	if (wanted.has('operations')) await operations(run)
	if (wanted.has('rows')) await rows(run)
	if (wanted.has('startup')) await startup(run)
	if (wanted.has('postgres')) await postgres(run, measured)
	if (wanted.has('webhooks')) await webhooks(run)
	if (wanted.has('idle')) await idle(run)
	if (wanted.has('syncs')) await syncs(run)
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
