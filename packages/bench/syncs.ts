// Section `syncs` brings companies of a provider into an empty organization, beside the floor: the same rows by prepared inserts. Then it runs
// the sync again, when nothing has changed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Remit } from '@remit/sdk'
import type { Run } from './context.ts'
import { copyDatabase, fileIn } from './databases.ts'
import { median } from './measure.ts'
import { pinned } from './processes.ts'
import { startRemit } from './remit.ts'
import { check, print, table, title } from './report.ts'
import { isReachable, newDatabase } from './scratch.ts'
import { withKey } from './syncs/organization.ts'
import { startVendor, type Vendor } from './syncs/vendor.ts'
import { settings } from './webhooks/queue.ts'

const least = 0.35
const goal = 0.5
const mostMegabytes = 250
/** How many times its quiet p99 a GET may take beside a run. */
const mostSlower = 3

interface Measured {
	/** Records a second. */
	readonly rate: number
	readonly megabytes: number
	readonly bytes: number
	readonly quietP99: number
	readonly besideP99: number
}

export async function syncs({ quick, rounds, server, database, seed }: Run): Promise<void> {
	const count = quick ? 20_000 : 100_000
	const vendor = await startVendor(count)
	title(`Sync of ${count} companies into an empty organization: records a second`)
	const lines: string[][] = []
	const figures: Measured[] = []
	const ratios: number[] = []
	for (let round = 0; round < Math.min(rounds, 3); round++) {
		const floor = count / (await floorSeconds(copyDatabase(`sync-floor-${round}`, database), vendor, seed.organizationId))
		const measured = await measure(`sync-${round}`, server, { DATA_DIR: copyDatabase(`sync-${round}`, database) }, vendor, count)
		figures.push(measured)
		ratios.push(measured.rate / floor)
		lines.push([`SQLite, round ${round + 1}`, ...rates(measured, floor)])
	}
	if (await isReachable()) {
		const measured = await measure('sync-postgres', server, { DATABASE_URL: await newDatabase('sync') }, vendor, count)
		lines.push(['PostgreSQL', ...rates(measured)])
	}
	table(['', 'Remit', 'floor', 'ratio', 'RSS MB', 'GET p99 ms, quiet', 'beside'], lines)
	const ratio = median(ratios)
	const most = Math.max(...figures.map(({ megabytes }) => megabytes))
	const slower = median(figures.map(({ quietP99, besideP99 }) => besideP99 / quietP99))
	const [text, memory, beside] = [
		`sync: ${ratio.toFixed(2)} of the floor`,
		`sync: RSS ${most.toFixed(0)} MB`,
		`sync: p99 of a GET beside it ${slower.toFixed(1)} times the quiet one`,
	]
	print(`- ${text} (target: ≥ ${least}, goal ${goal}) ${check(text, ratio >= least)}`)
	print(`- ${memory} (target: < ${mostMegabytes}) ${check(memory, most < mostMegabytes)}`)
	print(`- ${beside} (target: ≤ ${mostSlower}) ${check(beside, slower <= mostSlower)}\n`)
}

const rates = ({ rate, megabytes, quietP99, besideP99 }: Measured, floor?: number) => [
	rate.toFixed(0),
	floor === undefined ? '' : floor.toFixed(0),
	floor === undefined ? '' : (rate / floor).toFixed(2),
	megabytes.toFixed(0),
	quietP99.toFixed(1),
	besideP99.toFixed(1),
]

/** How long the floor takes: a process of its own, on the core of the servers. */
async function floorSeconds(folder: string, { url }: Vendor, organizationId: string): Promise<number> {
	const began = performance.now()
	const args = [new URL('syncs/floor.ts', import.meta.url).pathname, fileIn(folder), url, organizationId]
	const command = [...(pinned ? ['taskset', '-c', '0'] : []), process.execPath, ...args]
	const child = spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'inherit', 'inherit'] })
	const [code] = await once(child, 'close')
	if (code !== 0) throw new Error(`the floor ended with ${code}`)
	return (performance.now() - began) / 1_000
}

const object = {
	name: 'companies',
	path: '/companies',
	records: 'items',
	idField: 'id',
	changedField: 'updatedAt',
	sinceParameter: 'since',
	pagination: { style: 'page', parameter: 'page' },
} as const

const mapping = {
	name: 'Companies',
	source: { system: 'http_json', object: 'companies' },
	target: { system: 'internal', object: 'company' },
	fields: [
		{ target: 'name', source: 'name', required: true },
		{ target: 'domain', source: 'domain' },
		{ target: 'phone', source: 'phone' },
		{ target: 'billingCity', source: 'address.city' },
	],
	status: 'active',
} as const

async function measure(
	name: string,
	server: string,
	where: Parameters<typeof startRemit>[2],
	vendor: Vendor,
	count: number,
): Promise<Measured> {
	const { key, companyId } = await withKey(where)
	const remit = await startRemit(name, server, { ...where, ...settings })
	const client = new Remit({ apiKey: key, baseUrl: remit.url })
	const { id: connectionId } = await client.connections.create({
		...{ provider: 'http_json', name: 'Vendor', authType: 'api_key', credentials: { apiKey: 'key' } },
		config: { baseUrl: vendor.url, objects: [{ ...object, pagination: { ...object.pagination } }] },
	})
	await client.connections.test(connectionId)
	const { id: mappingId } = await client.mappings.create({ ...mapping, fields: mapping.fields.map((field) => ({ ...field })) })
	const quietP99 = await p99(client, companyId, 2_000)
	const before = vendor.bytes()
	const { id } = await client.syncs.create({
		name: 'Sync',
		connectionId,
		mappingId,
		direction: 'inbound',
		mode: 'incremental',
		start: false,
	})
	await client.syncs.run(id)
	let megabytes = 0
	let run = (await client.syncs.runs.list(id, { limit: 1 })).data[0]
	// The first half alone, and the second beside somebody who reads.
	const spans: number[] = []
	const times: [at: number, read: number][] = []
	while (run?.finishedAt === null) {
		if (run.progress.read < count / 2) await sleep(750)
		else spans.push(await p99(client, companyId, 1_000))
		megabytes = Math.max(megabytes, remit.rssMegabytes())
		run = await client.syncs.runs.get(id, run.id)
		if (spans.length === 0) times.push([performance.now(), run.progress.read])
	}
	const besideP99 = median(spans)
	if (run?.status !== 'succeeded') throw new Error(`the run is ${run?.status}: ${run?.error?.detail}`)
	const [[began, from], [ended, to]] = [times[0], times.at(-1)] as [[number, number], [number, number]]
	const rate = (to - from) / ((ended - began) / 1_000)
	const bytes = vendor.bytes() - before
	await client.syncs.run(id)
	let second = (await client.syncs.runs.list(id, { limit: 1 })).data[0]
	while (second?.finishedAt === null) {
		await sleep(750)
		second = await client.syncs.runs.get(id, second.id)
	}
	const { created = 0, updated = 0, bytes: read = 0 } = second?.progress ?? {}
	if (created + updated > 0 || read > Math.max(bytes / 20, 100_000))
		throw new Error(`an unchanged run wrote ${created + updated} and read ${read} of ${bytes}`)
	await remit.stop()
	return { rate, megabytes, bytes, quietP99, besideP99 }
}

/** The p99 of a GET, asked 50 times a second for a while. */
async function p99(client: Remit, companyId: string, forMs: number): Promise<number> {
	const took: number[] = []
	const until = performance.now() + forMs
	while (performance.now() < until) {
		const began = performance.now()
		await client.companies.get(companyId)
		took.push(performance.now() - began)
		await sleep(5)
	}
	took.sort((a, b) => a - b)
	return took[Math.floor(took.length * 0.99)] as number
}
