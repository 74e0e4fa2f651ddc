// Section `scale`: creates a second on PostgreSQL, in one organization and in fifty, by one process and by two: with each key at one of
// them, as the balancer of docs/guides/scale.md sends them, and with each at both. PostgreSQL, the processes and the driver share the
// cores of this machine.
import { createKey } from '../server/src/accounts/api-keys/store.ts'
import { createOrganization } from '../server/src/introductions.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import type { Database } from '../server/src/platform/db/database.ts'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { driveAll } from './load.ts'
import { createLoad } from './loads.ts'
import { median } from './measure.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { check, print, table, title } from './report.ts'
import { isReachable, newDatabase, run as runSql } from './scratch.ts'

const organizationCount = 50

export async function scale(run: Run): Promise<void> {
	if (!(await isReachable())) return print('PostgreSQL: skipped, no server on this machine\n')
	const url = await newDatabase('scale')
	const keys = await withDatabase({ url }, keysOfMany)
	const names = ['one', 'two'] as const
	const servers = await Promise.all(names.map((name) => startRemit(name, run.server, { DATABASE_URL: url }, '0,1')))
	// Creates a second that must be reached, and the goal.
	const loads = [
		{ what: 'one organization', keys: keys.slice(0, 1), least: 2_500, goal: 3_500 },
		{ what: `${organizationCount} organizations`, keys, least: 3_000, goal: 5_000 },
	]
	title('Creates a second on PostgreSQL (processes, PostgreSQL and driver on the same cores)')
	const lines: string[][] = []
	for (const { what, keys, least, goal } of loads) {
		// Not counted: Node compiles the code during the first requests, and PostgreSQL keeps plans for empty tables until it knows better.
		await createsPerSecond(servers, keys, run)
		await runSql('analyze', url)
		const [alone, apart, mixed]: [number[], number[], number[]] = [[], [], []]
		for (let turn = 0; turn < run.rounds; turn++) {
			alone.push(await createsPerSecond(servers.slice(0, 1), keys, run))
			apart.push(await createsApart(servers, keys, run))
			mixed.push(await createsPerSecond(servers, keys, run))
		}
		const one = median(alone)
		const ratioOf = (rates: readonly number[]) => median(rates.map((rate, turn) => rate / (alone[turn] as number)))
		const ratio = ratioOf(apart)
		const mark = check(`creates a second in ${what}: ${one.toFixed(0)}`, one >= least)
		const ratioMark = check(`two processes in ${what}: ${ratio.toFixed(2)} of one`, ratio >= 1)
		const figures = [one.toFixed(0), `≥ ${least} (goal ${goal})`, mark, median(apart).toFixed(0), ratio.toFixed(2)]
		lines.push([what, ...figures, '≥ 1 (goal 1.3)', ratioMark, median(mixed).toFixed(0), ratioOf(mixed).toFixed(2)])
	}
	const both = ['each key at both', '÷ one']
	table(['', 'one process', 'target', '', 'two, each key at one', 'two ÷ one', 'target', '', ...both], lines)
	for (const server of servers) await server.stop()
}

/** New organizations, and a key of each. */
export async function keysOfMany(db: Database): Promise<string[]> {
	const origin = bySystem(Date.now())
	const keys: string[] = []
	for (let n = 0; n < organizationCount; n++) {
		await db.transaction(async (tx) => {
			const { id } = await createOrganization(tx, origin, { name: `Organization ${n}`, defaultCurrency: 'EUR' })
			keys.push((await createKey({ db: tx, origin }, id, { name: 'bench', scopes: ['invoices:write'] })).key)
		})
	}
	return keys
}

/** Each key at one of the servers, which have the connections that their share of the keys has. */
async function createsApart(servers: readonly Server[], keys: readonly string[], run: Run): Promise<number> {
	const rates = servers.map(async (server, index) => {
		const own = keys.filter((_, key) => key % servers.length === index)
		const connections = Math.round((run.connections * own.length) / keys.length)
		return own.length === 0 ? 0 : createsPerSecond([server], own, { ...run, connections })
	})
	return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0)
}

async function createsPerSecond(servers: readonly Server[], keys: readonly string[], run: Run): Promise<number> {
	return (await driveAll(servers, run.key, { ...createLoad, keys }, run)).perSecond
}
