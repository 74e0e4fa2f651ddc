// Section `tenants` compares PostgreSQL with few organizations and with very many, all alike: what a request in one of them takes, what erasing
// one takes, and how much a flood of one slows another.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKey } from '../server/src/accounts/api-keys/store.ts'
import { createOrganization } from '../server/src/introductions.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import type { Database } from '../server/src/platform/db/database.ts'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { drive, type Load } from './load.ts'
import { createLoad, listLoad } from './loads.ts'
import { median } from './measure.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { check, print, table, title } from './report.ts'
import { isReachable, newDatabase } from './scratch.ts'
import { copyOrganization } from './tenants/copies.ts'

/** Of the organization that the others are copies of. */
const companies = 10
/** Ten millions among a hundred thousand organizations. */
const eventsIn = ({ quick }: Run) => (quick ? 20 : 100)

/** How much longer a request may take among many organizations, and how much slower another's flood may make a GET. */
const [mostGrowth, mostSlower] = [1.3, 2]

interface Tenants {
	readonly organizationId: string
	/** A key of it, and one of another organization. */
	readonly keys: readonly [string, string]
	readonly invoiceIds: readonly string[]
	readonly count: number
	readonly server: Server
	readonly url: string
}

export async function tenants(run: Run): Promise<void> {
	if (!(await isReachable())) return print('PostgreSQL: skipped, no server on this machine\n')
	const counts = run.quick ? [10, 1_000] : [10, 100_000]
	const [few, many] = (await Promise.all(counts.map((count) => among(count, run)))) as [Tenants, Tenants]
	await compare(few, many, run)
	await flood(many, run)
	for (const { server } of [few, many]) await server.stop()
	erase([few, many], run)
}

async function among(count: number, run: Run): Promise<Tenants> {
	const url = await newDatabase(`tenants_${count}`)
	const owner = await withDatabase({ url }, newOwners)
	const server = await startRemit(`${count}`, run.server, { DATABASE_URL: url }, '0,1')
	const invoiceIds = await writeRecords(server, owner.keys[0], eventsIn(run))
	await server.stop()
	await copyOrganization(url, owner.organizationId, count)
	return { ...owner, count, url, invoiceIds, server: await startRemit(`${count}`, run.server, { DATABASE_URL: url }, '0,1') }
}

async function newOwners(db: Database) {
	const origin = bySystem(Date.now())
	const newOwner = () =>
		db.transaction(async (tx) => {
			const { id } = await createOrganization(tx, origin, { name: 'Acme', defaultCurrency: 'EUR' })
			const scopes = ['companies:write', 'invoices:write', 'payments:read', 'read', 'admin'] as const
			return { id, key: (await createKey({ db: tx, origin }, id, { name: 'bench', scopes: [...scopes] })).key }
		})
	const [one, other] = [await newOwner(), await newOwner()]
	return { organizationId: one.id, keys: [one.key, other.key] as const }
}

/** Through the API: each record has its events and its lines in the audit log. */
async function writeRecords({ url }: Server, key: string, events: number): Promise<string[]> {
	const send = async (method: string, path: string, body: object): Promise<{ id: string }> => {
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
		const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
		if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
		return (await answer.json()) as { id: string }
	}
	const ids: string[] = []
	for (let n = 0; n < companies; n++) {
		const { id } = await send('POST', '/api/companies', { name: `Company ${n}` })
		ids.push((await send('POST', '/api/invoices', { companyId: id, totalCents: 12_500, currency: 'EUR' })).id)
	}
	for (let n = 2 * companies; n < events; n++) await send('PATCH', `/api/invoices/${ids[n % companies]}`, { notes: `${n}` })
	return ids
}

const loadsOf = ({ invoiceIds }: Tenants): Readonly<Record<string, Load>> => ({
	'GET one invoice': { method: 'GET', paths: invoiceIds.map((id) => `/api/invoices/${id}`) },
	'list of invoices': { method: 'GET', paths: ['/api/invoices?status=draft'] },
	'search for a company': { method: 'GET', paths: ['/api/companies?search=company'] },
	'search in all kinds': { method: 'GET', paths: ['/api/search?q=company'] },
	report: { method: 'GET', paths: ['/api/reports/summary'] },
	events: { method: 'GET', paths: ['/webhooks/events'] },
	deliveries: { method: 'GET', paths: ['/webhooks/deliveries'] },
	'audit log': { method: 'GET', paths: ['/api/audit'] },
	'history of an invoice': { method: 'GET', paths: invoiceIds.map((id) => `/api/invoices/${id}/history`) },
	create: createLoad,
})

/** One request at a time: how long it takes, and not how many there can be. */
const pace = ({ seconds }: Run) => ({ connections: 1, seconds })

async function compare(few: Tenants, many: Tenants, run: Run): Promise<void> {
	title(`p50 of a request in ms, among ${few.count} organizations and among ${many.count.toLocaleString('en')}, PostgreSQL`)
	const lines: string[][] = []
	for (const name of Object.keys(loadsOf(few))) {
		const times: [number[], number[]] = [[], []]
		const ratios: number[] = []
		for (let round = 0; round < run.rounds; round++) {
			const pair: number[] = []
			for (const [at, tenants] of [few, many].entries()) {
				const driven = await drive(tenants.server.url, tenants.keys[0], loadsOf(tenants)[name] as Load, pace(run))
				if (driven.failed > 0) throw new Error(`${name}: ${driven.failed} requests failed`)
				times[at as 0 | 1].push(driven.p50)
				pair.push(driven.p50)
			}
			ratios.push((pair[1] as number) / (pair[0] as number))
		}
		const ratio = median(ratios)
		const mark = check(`${name} among many organizations: ${ratio.toFixed(2)} times`, ratio <= mostGrowth)
		lines.push([name, ...times.map((all) => median(all).toFixed(2)), ratio.toFixed(2), `≤ ${mostGrowth}`, mark])
	}
	table(['', String(few.count), many.count.toLocaleString('en'), 'times', 'target', ''], lines)
}

/** GETs in a round, with pauses: fewer than a key may make in a minute. */
const pacedGets = 100
const pauseMs = 5

/** Another organization asks for lists on fifty connections, on a server with the limits that it has by default. */
async function flood({ url, keys, invoiceIds }: Tenants, run: Run): Promise<void> {
	const server = await startRemit('limited', run.server, { DATABASE_URL: url, INVOICING_RATE_LIMIT: '1000' }, '0,1')
	const headers = { authorization: `Bearer ${keys[0]}` }
	const get = async () => {
		const taken: number[] = []
		for (let count = 0; count < pacedGets; count++) {
			const began = performance.now()
			const answer = await fetch(`${server.url}/api/invoices/${invoiceIds[count % invoiceIds.length]}`, { headers })
			await answer.arrayBuffer()
			taken.push(performance.now() - began)
			if (!answer.ok) throw new Error(`GET: ${answer.status}`)
			await sleep(pauseMs)
		}
		return median(taken)
	}
	const times: [number, number][] = []
	for (let round = 0; round < Math.min(run.rounds, 4); round++) {
		const alone = await get()
		const flooding = drive(server.url, keys[1], listLoad, { connections: run.connections, seconds: run.seconds + 1 })
		await sleep(500)
		const beside = await get()
		await flooding
		times.push([alone, beside])
	}
	await server.stop()
	const slower = median(times.map(([alone, beside]) => beside / alone))
	const [alone, beside] = [0, 1].map((at) => median(times.map((pair) => pair[at as 0 | 1])).toFixed(2))
	const text = `a GET takes ${beside} ms beside a flood of another organization, ${alone} ms alone: ${slower.toFixed(1)} times`
	print(`- ${text} (target: ≤ ${mostSlower}) ${check(text, slower <= mostSlower)}\n`)
}

function erase(all: readonly Tenants[], { server }: Run): void {
	const seconds = all.map(({ url, organizationId }) => {
		const began = performance.now()
		execFileSync(process.execPath, [join(server, 'bin/remit.js'), 'organizations', 'erase', organizationId, '--yes'], {
			env: { PATH: process.env.PATH, DATABASE_URL: url, NODE_ENV: 'production' },
		})
		return (performance.now() - began) / 1_000
	})
	const [few, many] = seconds as [number, number]
	const text = `erasing one organization: ${few.toFixed(1)} s among few, ${many.toFixed(1)} s among many`
	print(`- ${text} (target: ≤ ${mostGrowth} times) ${check(text, many / few <= mostGrowth)}\n`)
}
