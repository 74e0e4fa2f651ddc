// Section `capacity` measures what requests cost a process and PostgreSQL, foretells from that what two processes serve on the same cores, compares,
// and prints what larger installations can serve and what limits them first.
import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cost, type Kind, limitOf, type Measured, mostTogether } from './capacity/model.ts'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { driveAll, type Load } from './load.ts'
import { createLoad, getLoad, listLoad } from './loads.ts'
import { median } from './measure.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { check, print, table, title } from './report.ts'
import { keysOfMany } from './scale.ts'
import { isReachable, newDatabase, run as runSql } from './scratch.ts'
import { seed } from './seed.ts'

const organizations = [10, 100, 1_000, 10_000]
const processes = [1, 2, 5, 10, 50]
const databaseCores = [4, 16]
/** How far a foretold figure may be from the measured one. */
const tolerance = 0.3

const names: Readonly<Record<Kind, string>> = { get: 'GET one invoice', list: 'list of 50', create: 'create' }
const cores = '0,1'
/** Of the machine: this process is pinned to one. */
const coreCount = cpus().length

interface Sample extends Cost {
	/** Requests a second with one process, and with two. */
	readonly one: number
	readonly two: number
}

export async function capacity(run: Run): Promise<void> {
	if (!(await isReachable())) return print('PostgreSQL: skipped, no server on this machine\n')
	const url = await newDatabase('capacity')
	const seeded = await withDatabase({ url }, seed)
	const keys = await withDatabase({ url }, keysOfMany)
	await runSql('analyze', url)
	const server = (name: string) => startRemit(name, run.server, { DATABASE_URL: url }, cores)
	const [one, two] = [await server('one'), await server('two')]
	const loads: Record<Kind, Load> = { get: getLoad(seeded), list: listLoad, create: { ...createLoad, keys } }
	const kinds = Object.keys(loads) as Kind[]
	const drives = (servers: readonly Server[], load: Load) => driveAll(servers, seeded.key, load, run)
	for (const kind of kinds) await drives([one, two], loads[kind])
	await runSql('analyze', url)
	const idle = await idleMicros(url, 2_000)
	const costs = {} as Record<Kind, Cost>
	const lines: string[][] = []
	for (const kind of kinds) {
		const samples: Sample[] = []
		for (let round = 0; round < run.rounds; round++) {
			const [own, shared] = [one.cpuMicros(), databaseMicros(url)]
			const alone = await drives([one], loads[kind])
			const process = (one.cpuMicros() - own) / alone.requests
			const database = (databaseMicros(url) - shared) / alone.requests
			const both = await drives([one, two], loads[kind])
			samples.push({ process, database, one: alone.perSecond, two: both.perSecond })
		}
		const of = (figure: keyof Sample) => median(samples.map((sample) => sample[figure]))
		const cost = { process: of('process'), database: of('database') }
		costs[kind] = cost
		const compared = (['one', 'two'] as const).flatMap((figure, index) => {
			const foretold = mostTogether(cost, index + 1, coreCount)
			const error = foretold / of(figure) - 1
			const mark = check(`${names[kind]}: ${figure} foretold ${(100 * error).toFixed(0)} % off`, Math.abs(error) <= tolerance)
			return [of(figure).toFixed(0), foretold.toFixed(0), mark]
		})
		lines.push([names[kind], cost.process.toFixed(0), cost.database.toFixed(0), ...compared])
	}
	const single = await drives([one], { ...createLoad, keys: keys.slice(0, 1) })
	for (const each of [one, two]) await each.stop()
	title('What a request costs, and what one and two processes serve on the cores of this machine, a second')
	table(['', 'process, µs', 'PostgreSQL, µs', 'one', 'foretold', '', 'two', 'foretold', ''], lines)
	print(
		`- creates in one organization: ${single.perSecond.toFixed(0)} a second · an idle process: ${idle.toFixed(0)} µs of PostgreSQL a second\n`,
	)
	const measured = { costs, serial: 1e6 / single.perSecond, idle }
	for (const cores of databaseCores) tableOf(measured, cores)
}

function tableOf(measured: Measured, cores: number): void {
	title(`Requests a second that PostgreSQL on ${cores} cores and so many processes serve, and what limits them first`)
	table(
		['organizations', ...processes.map((count) => `${count} ${count === 1 ? 'process' : 'processes'}`)],
		organizations.map((count) => [
			count.toLocaleString('en'),
			...processes.map((processes) => {
				const { perSecond, first } = limitOf(measured, { organizations: count, processes, databaseCores: cores })
				return `${(Number(perSecond.toPrecision(2)) || 0).toLocaleString('en')}, ${first}`
			}),
		]),
	)
}

/** CPU of PostgreSQL's processes that serve a database, in µs. */
function databaseMicros(url: string): number {
	const name = new URL(url).pathname.slice(1)
	let ticks = 0
	for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
		try {
			if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(` ${name} `)) continue
			const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
				.replace(/^.*\) /, '')
				.split(' ')
			ticks += Number(fields[11]) + Number(fields[12])
		} catch {
			// It has ended meanwhile.
		}
	}
	return ticks * 10_000
}

/** Of two idle processes, in µs a second and process. */
async function idleMicros(url: string, forMs: number): Promise<number> {
	const before = databaseMicros(url)
	await sleep(forMs)
	return ((databaseMicros(url) - before) * 1_000) / forMs / 2
}
