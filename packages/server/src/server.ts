// The HTTP server around the app: its limits, its answers to requests that never reach the app, the background work, and the
// shutdown.

import { createServer, type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { canAnybodySignIn, setupPath } from './accounts/doors.ts'
import { testProcessorWarning } from './app/hosted/test-mode.ts'
import type { Metrics } from './app/metrics/metrics.ts'
import { createApp, createWorkerApp } from './app.ts'
import { startBackground } from './background.ts'
import type { Config } from './config.ts'
import { settleRefreshes } from './integration/doors.ts'
import { introductions } from './introductions.ts'
import { Callers } from './platform/auth/caller.ts'
import { openRateLimits } from './platform/auth/rate-limit.ts'
import { StoredBytes } from './platform/auth/stored-bytes.ts'
import { ApiError, ConfigError, problem } from './platform/base/errors.ts'
import { newId } from './platform/base/ids.ts'
import type { Database } from './platform/db/database.ts'
import { defaults } from './platform/http/answers.ts'
import { Connections } from './platform/http/connections.ts'
import { Load } from './platform/http/load.ts'
import { expressPrototypes } from './platform/http/steps/express.ts'
import type { Lookup } from './platform/outside/resolver.ts'
import { openServices } from './platform/outside/services.ts'
import { openClock, type SharedClock } from './platform/work/clock-store.ts'
import { every, once } from './platform/work/loop.ts'
import { warnOfLostKeys } from './platform/work/sealing.ts'

export interface RunningServer {
	/** The server's URL on this machine. */
	readonly url: string
	/** The clock that all servers on the database go by. */
	readonly now: () => number
	/** Runs every job that is due, for tests; undefined with ROLE=api. */
	readonly drainJobs: (() => Promise<void>) | undefined
	/** The path of the page by which the first person comes in, with its secret; undefined when somebody can sign in, or without pages. */
	readonly setupPath: string | undefined
	/** Where Prometheus asks. */
	readonly metricsUrl?: string | undefined
	/**
	 * After DRAIN_SECONDS takes no more connections, lets what is under way end, and closes the database. What has not ended after
	 * five eighths of the grace is broken off: first webhooks and calls to others, then after six eighths the connections. Only a
	 * database that hangs takes longer.
	 */
	close(graceMs?: number): Promise<void>
}

export interface ServerOptions {
	readonly db: Database
	readonly config: Config
	readonly log: Logger
	/** For tests; absent for the database's time. */
	readonly now?: () => number
	/** Resolves the hosts that callers name, instead of the machine's resolver. */
	readonly lookup?: Lookup
	/** Whether its caller still has to do something before the server has started, of which it tells load balancers; absent for no. */
	readonly isStarting?: () => boolean
}

const limits = {
	requireHostHeader: false,
	maxHeaderSize: 16 * 1024,
	headersTimeout: 10_000,
	requestTimeout: 30_000,
	keepAliveTimeout: 65_000,
	connectionsCheckingInterval: 5_000,
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
	const { db: database, config, log, now: given, lookup, isStarting } = options
	let hasStarted = false
	const traces = config.OTEL_EXPORTER_OTLP_ENDPOINT
		? (await import('./platform/outside/traces/open.ts')).openTraces(config, log)
		: undefined
	const db = traces?.database(database) ?? database
	const clock: SharedClock = given ? { now: given } : await openClock(db, log)
	const { now, asking: askingTime } = clock
	const callers = new Callers(db, now, undefined, config.BASE_URL)
	const storedBytes = new StoredBytes(db, config.STORED_MB_PER_DAY)
	let url = config.BASE_URL
	const services = await openServices(config, { baseUrl: () => url, lookup, traces, ...introductions })
	const warning = testProcessorWarning(config.HOST, services.payments.server?.name)
	if (warning) log.warn(warning)
	const rateLimits = await openRateLimits(config, log)
	const load = new Load(config, log)
	const create = config.ROLE === 'worker' ? createWorkerApp : createApp
	const phaseOf = () => (!hasStarted || isStarting?.() ? 'starting' : connections.isEnding ? 'ending' : 'running')
	const app = create({ db, config, log, now, askingTime, callers, storedBytes, services, limits: rateLimits, load, phaseOf })
	const server = createServer({ ...limits, ...expressPrototypes(app) })
	const metrics = await openMetrics({ db, config, log, now })
	const connections: Connections = new Connections(server)
	let requests = 0
	server.on('request', (req, res) => {
		requests++
		metrics?.watch(req, res)
		if (!connections.begin(req, res) || load.shed(req, res)) return
		if (traces) traces.request(req, res, () => app(req, res))
		else app(req, res)
	})
	server.on('clientError', rejectMalformed)
	// A server may ignore an unknown expectation (RFC 9110 §10.1.1); node:http would answer 417 without a body.
	server.on('checkExpectation', (req, res) => server.emit('request', req, res))
	endUnread(server, config.ANSWER_TIMEOUT_SECONDS * 1000)
	const canSignIn = await canAnybodySignIn(db)
	await listen(server, config)
	const address = addressOf(server, config)
	url ||= address
	server.on('error', (err) => log.error({ err }, 'a connection could not be accepted'))
	const loops = [
		every(10_000, () => callers.flush(), log),
		every(10_000, () => storedBytes.flush(now()), log),
		once((signal) => warnOfLostKeys(db, services.secrets, log, signal), log),
		...(clock.loop ? [clock.loop] : []),
	]
	const stored = (organizationId: string, bytes: number) => storedBytes.add(organizationId, bytes, now())
	const requireStorage = (organizationId: string) => storedBytes.require(organizationId, now())
	const background =
		config.ROLE === 'api'
			? undefined
			: startBackground({
					db,
					config,
					log,
					now,
					services,
					requests: () => requests,
					stored,
					requireStorage,
					attempted: metrics?.attempted,
					ran: metrics?.ran,
					traces,
				})
	await background?.begun
	hasStarted = true
	return {
		url: address,
		now,
		drainJobs: background?.drainJobs,
		metricsUrl: metrics?.url,
		// A worker has no pages.
		setupPath: config.WEB === 'on' && config.ROLE !== 'worker' && !canSignIn ? setupPath(services.secrets) : undefined,
		async close(graceMs = config.SHUTDOWN_SECONDS * 1000) {
			connections.announceEnd()
			// No load balancer sends requests to a worker.
			if (config.ROLE !== 'worker') await sleep(config.DRAIN_SECONDS * 1000)
			const drained = connections.drain().then(() => settleRefreshes(services))
			const work = [drained, background?.stop((graceMs * 5) / 8), ...loops.map((loop) => loop.stop())]
			const breakOff = setTimeout(() => services.close().catch(() => {}), (graceMs * 5) / 8)
			await Promise.race([Promise.all(work), sleep((graceMs * 6) / 8, undefined, { ref: false })])
			clearTimeout(breakOff)
			connections.cut()
			load.close()
			await metrics?.close()
			await callers.flush().catch((err) => log.error({ err }, 'when keys were last used could not be written'))
			await storedBytes.flush(now()).catch((err) => log.error({ err }, 'how many bytes were stored could not be written'))
			await Promise.all([services.close(), traces?.close(graceMs / 16)])
			rateLimits.close()
			await db.close()
		},
	}
}

/** Loads what counts only where somebody asks for it. */
async function openMetrics({ db, config, log, now }: ServerOptions & { now: () => number }): Promise<Metrics | undefined> {
	const { METRICS_PORT: port, HOST: host, METRICS_HOSTS: hosts } = config
	return port === undefined
		? undefined
		: (await import('./app/metrics/metrics.ts')).startMetrics({ db, log, now, host, port, hosts })
}

function addressOf(server: Server, { HOST }: Config): string {
	const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST
	return `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
}

/** Ends connections whose client has taken nothing of an answer for so long. A listener of `timeout` must end idle ones too. */
function endUnread(server: Server, unreadMs: number): void {
	server.setTimeout(unreadMs, (socket) => {
		// A reset frees what the system still holds for the client.
		if (socket.writableLength > 0) socket.resetAndDestroy()
		else if (socket.timeout !== unreadMs) socket.destroy()
	})
}

function listen(server: Server, { PORT, HOST }: Config): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once('error', (error: NodeJS.ErrnoException) => {
			if (error.code === 'EADDRINUSE')
				reject(new ConfigError(`PORT=${PORT}: the port is taken; stop what listens there, or set PORT to another.`))
			else reject(new ConfigError(`HOST=${HOST} PORT=${PORT}: cannot listen there: ${error.message}`))
		})
		server.listen(PORT, HOST, resolve)
	})
}

/** Answers connections that node:http rejects before there is a request: headers too large or too slow, or no HTTP at all. */
function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
	if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
	const answered = errorFor(error.code)
	const requestId = newId('req')
	const text = JSON.stringify(problem(answered, '', requestId))
	const lines = [
		`HTTP/1.1 ${answered.status} ${STATUS_CODES[answered.status]}`,
		'Content-Type: application/problem+json',
		`Content-Length: ${Buffer.byteLength(text)}`,
		`X-Request-Id: ${requestId}`,
		...Object.entries(defaults).map(([name, value]) => `${name}: ${value}`),
		'Connection: close',
	]
	socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`)
}

function errorFor(code: string | undefined): ApiError {
	if (code === 'HPE_HEADER_OVERFLOW')
		return new ApiError('headers_too_large', `The headers are larger than ${limits.maxHeaderSize / 1024} KiB.`)
	if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', 'The request took too long to arrive.')
	return new ApiError('invalid_request', 'This is not HTTP/1.1.')
}
