// Section `postgres` measures the same four requests in a scratch database of the PostgreSQL on this machine.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { createLoad, getLoad, listLoad, searchLoad } from './loads.ts'
import { measure, medianOf, type Samples } from './measure.ts'
import { type Server, startServer } from './processes.ts'
import { startRemit } from './remit.ts'
import { figureHeadings, figures, print, printOperation, table, title } from './report.ts'
import { isReachable, newDatabase, run as runSql } from './scratch.ts'
import { seed } from './seed.ts'

/** `sqlite` has the samples of the same run on SQLite, by operation. */
export async function postgres(run: Run, sqlite: ReadonlyMap<string, Samples>): Promise<void> {
	if (!(await isReachable())) return print('PostgreSQL: skipped, no server on this machine\n')
	const url = await newDatabase('requests')
	const seeded = await withDatabase({ url }, seed)
	await runSql('analyze', url)
	const server = await startRemit('remit', run.server, { DATABASE_URL: url })
	const own = { ...run, key: seeded.key, seed: seeded }
	await measureAll(server, { ...own, rounds: Math.min(run.rounds, 2) }, sqlite)
	await againstFastify(server, url, own)
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

/** By CPU of the process, as everywhere: PostgreSQL does the same for both. */
const rivals = { fastify: { least: 0.9, goal: 1.1 }, 'fastify, same duties': { least: 0.9, goal: 1.1 } }

async function againstFastify(remit: Server, url: string, run: Run): Promise<void> {
	const servers = [remit]
	const program = resolve(import.meta.dirname, 'rivals/fastify-postgres.ts')
	for (const name of Object.keys(rivals))
		servers.push(
			await startServer(name, ['--max-semi-space-size=16', program, url, ...(name.includes('duties') ? ['duties'] : [])]),
		)
	const answers = await Promise.all(servers.map((server) => invoiceOf(server, run)))
	for (const answer of answers) assert.deepEqual(answer, answers[0])
	printOperation('GET one invoice on PostgreSQL, beside Fastify with pg', await measure(servers, getLoad(run.seed), run), rivals)
	for (const server of servers.slice(1)) await server.stop()
}

async function invoiceOf({ url }: Server, { key, seed }: Run): Promise<unknown> {
	const answer = await fetch(`${url}/api/invoices/${seed.invoiceIds[0]}`, { headers: { authorization: `Bearer ${key}` } })
	return answer.json()
}
