// Metrics in Prometheus' text, on a port of their own. Loaded only with METRICS_PORT. Labels are operations, statuses and the like, of
// which there is a fixed number: never a path, an id or a name that a caller chose.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import type { Request } from 'express'
import type { Logger } from 'pino'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { ConfigError } from '../../platform/base/errors.ts'
import type { Database } from '../../platform/db/database.ts'
import { Backlog } from './backlog.ts'

export interface MetricsOptions {
	readonly db: Database
	readonly now: () => number
	readonly log: Logger
	readonly host: string
	readonly port: number
	/** Names with a dot that are asked for. */
	readonly hosts: readonly string[]
}

export interface Metrics {
	readonly url: string
	/** Counts a request once it is answered. */
	watch(req: IncomingMessage, res: ServerResponse): void
	/** Counts an attempt of a webhook by what came of it. */
	attempted(outcome: string): void
	/** Counts a run of a sync by what became of it, and why. */
	ran(outcome: string, error: string): void
	close(): Promise<void>
}

/** Seconds: a list, a write, a PDF, a call of another server. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 25]

export async function startMetrics({ db, now, log, host, port, hosts }: MetricsOptions): Promise<Metrics> {
	const register = new Registry()
	const registers = [register]
	collectDefaultMetrics({ register })
	const requests = new Counter({
		name: 'remit_requests_total',
		help: 'Answered requests. operation: as in the contract, or other; status: of HTTP, or hung_up.',
		labelNames: ['operation', 'status'],
		registers,
	})
	const durations = new Histogram({
		name: 'remit_request_duration_seconds',
		help: 'Time from the headers of a request to the end of its answer.',
		labelNames: ['operation'],
		buckets,
		registers,
	})
	const attempts = new Counter({
		name: 'remit_webhook_attempts_total',
		help: 'Attempts of webhooks: succeeded, retrying, exhausted, broken_off or held_back.',
		labelNames: ['outcome'],
		registers,
	})
	const runs = new Counter({
		name: 'remit_sync_runs_total',
		help: 'Runs of syncs: succeeded, partially_succeeded, failed, blocked, or waiting once for each reason; error: as in the contract.',
		labelNames: ['outcome', 'error'],
		registers,
	})
	const backlog = new Backlog({ db, now, log })
	addGauges(registers, backlog, db)
	const server = createServer((req, res) => {
		if (isOwnHost(req.headers.host, hosts)) return void scrape(register, req, res)
		res.writeHead(421, { 'Content-Type': 'text/plain' }).end('METRICS_HOSTS does not have this name.\n')
	})
	await new Promise<void>((resolve, reject) => {
		server.once('error', (error) => reject(new ConfigError(`METRICS_PORT=${port}: cannot listen there: ${error.message}`)))
		server.listen(port, host, resolve)
	})
	server.on('error', (err) => log.error({ err }, 'a connection for metrics could not be accepted'))
	return {
		url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/metrics`,
		watch(req, res) {
			const began = performance.now()
			res.once('close', () => {
				const operation = (req as Partial<Request>).context?.operation?.id ?? 'other'
				requests.inc({ operation, status: res.writableFinished ? res.statusCode : 'hung_up' })
				durations.observe({ operation }, (performance.now() - began) / 1000)
			})
		},
		attempted: (outcome) => attempts.inc({ outcome }),
		ran: (outcome, error) => runs.inc({ outcome, error }),
		async close() {
			await backlog.close()
			server.close()
			server.closeAllConnections()
		},
	}
}

function addGauges(registers: Registry[], backlog: Backlog, db: Database): void {
	const gauge = (name: string, help: string, read: () => number) =>
		new Gauge({
			name,
			help,
			registers,
			collect() {
				this.set(read())
			},
		})
	const { deliveries, jobs } = { deliveries: () => backlog.deliveries, jobs: () => backlog.jobs }
	gauge('remit_webhook_due', 'Deliveries that are due and not under way; of an endpoint up to 1,000.', () => deliveries().count)
	gauge('remit_webhook_due_seconds', 'For how long the oldest of them has been due.', () => backlog.ageOf(deliveries()))
	gauge('remit_jobs_due', 'Jobs that are due and not under way, up to 1,000.', () => jobs().count)
	gauge('remit_jobs_due_seconds', 'For how long the oldest of them has been due.', () => backlog.ageOf(jobs()))
	gauge(
		'remit_due_age_seconds',
		'For how long these four have not been counted again: every 15 s, if the database answers.',
		() => backlog.age,
	)
	if (!db.connections) return
	new Gauge({
		name: 'remit_database_connections',
		help: 'PostgreSQL: connections of this process by what they are for (reads, writes) and state (busy, idle); waiting: who waits for one.',
		labelNames: ['use', 'state'],
		registers,
		collect() {
			for (const { use, busy, idle, waiting } of db.connections?.() ?? [])
				for (const [state, count] of Object.entries({ busy, idle, waiting })) this.set({ use, state }, count)
		},
	})
}

async function scrape(register: Registry, { method, url }: IncomingMessage, res: ServerResponse): Promise<void> {
	if (method !== 'GET' || url !== '/metrics') return void res.writeHead(404).end()
	const text = await register.metrics().catch(() => undefined)
	if (text === undefined) res.writeHead(500).end()
	else res.writeHead(200, { 'Content-Type': register.contentType }).end(text)
}

/** A page in a browser can lead a name of its own to this port, and then read the answer: no name of the internet is without a dot. */
function isOwnHost(host = '', hosts: readonly string[]): boolean {
	const name = host.replace(/:\d*$/, '').toLowerCase()
	return name.startsWith('[') || isIP(name) > 0 || !name.includes('.') || hosts.includes(name)
}
