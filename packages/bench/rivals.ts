// Sections `reads` and `create` measure Remit and its rivals, each on its own copy of the same rows.
import { resolve } from 'node:path'
import type { Run } from './context.ts'
import { copyDatabase, fileIn } from './databases.ts'
import type { Load } from './load.ts'
import { createLoad, getLoad, listLoad, searchLoad } from './loads.ts'
import { measure, medianOf, type Samples } from './measure.ts'
import { type Server, startServer } from './processes.ts'
import { startRemit, youngGeneration } from './remit.ts'
import { print, printOperation, type Targets } from './report.ts'
import { verifyAnswers } from './verify.ts'

interface Operation {
	readonly name: string
	readonly load: Load
	readonly targets: Targets
}

/** Targets: the rival's CPU per request, divided by Remit's. */
const targets = {
	get: {
		limit: { least: 0.75, goal: 0.85 },
		'fastify, same duties': { least: 1, goal: 1.1 },
		'by hand': { least: 0.9, goal: 1.5 },
	},
	list: { limit: { least: 1.5, goal: 1.7 }, fastify: { least: 1 }, 'by hand': { least: 1.2 } },
	search: { limit: { least: 0.95, goal: 1.05 }, fastify: { least: 0.9 }, 'by hand': { least: 0.9 } },
	create: { limit: { least: 1.6, goal: 2.2 }, fastify: { least: 1 }, 'by hand': { least: 1 } },
} satisfies Record<string, Targets>

const rivals = [
	['limit', 'limit'],
	['limit json', 'limit-json'],
	['fastify', 'fastify'],
	['fastify, same duties', 'fastify', 'duties'],
	['by hand', 'by-hand'],
] as const

export async function againstRivals(
	run: Run,
	parts: { readonly reads: boolean; readonly create: boolean },
	measured: Map<string, Samples>,
): Promise<void> {
	const servers = await startAll(run)
	await verifyAnswers(servers, run.seed)
	print('The rivals give the same answers.\n')
	const reads: Operation[] = [
		{ name: 'GET one invoice', load: getLoad(run.seed), targets: targets.get },
		{ name: 'list of 50', load: listLoad, targets: targets.list },
		{ name: 'company search', load: searchLoad, targets: targets.search },
	]
	const create: Operation = { name: 'create', load: createLoad, targets: targets.create }
	for (const { name, load, targets } of [...(parts.reads ? reads : []), ...(parts.create ? [create] : [])]) {
		const samples = await measure(servers, load, run)
		measured.set(name, samples)
		printOperation(name, samples, targets)
	}
	const remit = servers[0] as Server
	if (parts.reads && parts.create) await listAgain(remit, run, measured.get('list of 50') as Samples)
	for (const server of servers) await server.stop()
}

/** A plan that SQLite made for few rows may be slow after many creates. */
async function listAgain(remit: Server, run: Run, before: Samples): Promise<void> {
	const after = await measure([remit], listLoad, { ...run, rounds: 1 })
	const cpu = (samples: Samples) => `${medianOf(samples, 'remit', ({ cpuMicros }) => cpuMicros).toFixed(1)} µs`
	print(`List of 50 on the same server after its creates: ${cpu(after)}, before them ${cpu(before)}\n`)
}

async function startAll(run: Run): Promise<Server[]> {
	const servers = [await startRemit('remit', run.server, { DATA_DIR: copyDatabase('remit', run.database) })]
	for (const [name, file, ...more] of rivals) {
		const program = resolve(import.meta.dirname, `rivals/${file}.ts`)
		servers.push(
			await startServer(name, [youngGeneration, program, fileIn(copyDatabase(name.replaceAll(' ', '-'), run.database)), ...more]),
		)
	}
	return servers
}
