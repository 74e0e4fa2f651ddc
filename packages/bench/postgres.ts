// Section `postgres` measures the same four requests in a scratch database of the PostgreSQL on this machine.
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { createLoad, getLoad, listLoad, searchLoad } from './loads.ts'
import { measure, medianOf, type Samples } from './measure.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { figureHeadings, figures, print, table, title } from './report.ts'
import { isReachable, newDatabase, run as runSql } from './scratch.ts'
import { seed } from './seed.ts'

/** `sqlite` has the samples of the same run on SQLite, by operation. */
export async function postgres(run: Run, sqlite: ReadonlyMap<string, Samples>): Promise<void> {
	if (!(await isReachable())) return print('PostgreSQL: skipped, no server on this machine\n')
	const url = await newDatabase('requests')
	const seeded = await withDatabase({ url }, seed)
	await runSql('analyze', url)
	const server = await startRemit('postgres', run.server, { DATABASE_URL: url })
	await measureAll(server, { ...run, key: seeded.key, seed: seeded, rounds: Math.min(run.rounds, 2) }, sqlite)
	await server.stop()
}

async function measureAll(server: Server, run: Run, sqlite: ReadonlyMap<string, Samples>): Promise<void> {
	const loads = { 'GET one invoice': getLoad(run.seed), 'list of 50': listLoad, 'company search': searchLoad, create: createLoad }
	const lines: string[][] = []
	for (const [what, load] of Object.entries(loads)) {
		const samples = await measure([server], load, run)
		const beside = sqlite.get(what)
		const cpu = beside ? medianOf(beside, 'remit', ({ cpuMicros }) => cpuMicros).toFixed(1) : '–'
		lines.push([what, ...figures(samples, server.name), cpu])
	}
	title('Remit on PostgreSQL (CPU of Remit alone, not of PostgreSQL, which shares the two cores)')
	table(['', ...figureHeadings, 'CPU on SQLite'], lines)
}
