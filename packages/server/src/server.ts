// The HTTP server around the app: its limits, what it says to requests that never reach the app, and its end.
import { createServer, type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Logger } from 'pino'
import { createApp } from './app.ts'
import { Callers } from './auth/caller.ts'
import type { Config } from './config.ts'
import { ConfigError } from './config.ts'
import type { Database } from './db.ts'
import { ApiError, problem } from './errors.ts'
import { bornForExpress } from './http.ts'
import { sweepIdempotencyKeys } from './idempotency.ts'
import { newId } from './ids.ts'

export interface RunningServer {
	/** Where it can be reached from this machine. */
	readonly url: string
	/** Stops taking requests, lets those under way finish, and closes the database. */
	close(): Promise<void>
}

export interface ServerOptions {
	readonly db: Database
	readonly config: Config
	readonly log: Logger
	readonly now?: () => number
}

const limits = {
	requireHostHeader: false,
	maxHeaderSize: 16 * 1024,
	headersTimeout: 10_000,
	requestTimeout: 30_000,
	keepAliveTimeout: 65_000,
	connectionsCheckingInterval: 5_000,
}

export async function startServer({ db, config, log, now = Date.now }: ServerOptions): Promise<RunningServer> {
	const callers = new Callers(db, now)
	const app = createApp({ db, config, log, now, callers })
	const server = createServer({ ...limits, ...bornForExpress(app) }, app)
	server.on('clientError', refuse)
	// An expectation that is unknown may be ignored (RFC 9110 §10.1.1); node:http would answer 417 without a word.
	server.on('checkExpectation', (req, res) => server.emit('request', req, res))
	const connections = new Set<Socket>()
	server.on('connection', (socket: Socket) => {
		connections.add(socket)
		socket.once('close', () => connections.delete(socket))
	})
	await listen(server, config)
	const timers = [every(10_000, () => callers.flush(), log), every(3_600_000, () => sweepIdempotencyKeys(db, now()), log)]
	const { port } = server.address() as AddressInfo
	const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? 'localhost' : config.HOST
	return {
		url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
		async close() {
			for (const timer of timers) clearInterval(timer)
			await closeConnections(server, connections)
			await callers.flush()
			await db.close()
		},
	}
}

/** Closes every connection as soon as no request is under way on it, or at once when none ever was. */
async function closeConnections(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
	const closed = new Promise((resolve) => server.close(resolve))
	for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
	const sweep = setInterval(() => server.closeIdleConnections(), 20)
	await closed
	clearInterval(sweep)
}

function every(ms: number, work: () => Promise<unknown>, log: Logger): NodeJS.Timeout {
	return setInterval(() => work().catch((err) => log.error({ err }, 'background work failed')), ms).unref()
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

/** Answers what node:http refuses before there is a request: headers too large, too slow, or no HTTP at all. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
	if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
	const refusal = refusalFor(error.code)
	const requestId = newId('req')
	const text = JSON.stringify(problem(refusal, '', requestId))
	const lines = [
		`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
		'Content-Type: application/problem+json',
		`Content-Length: ${Buffer.byteLength(text)}`,
		`X-Request-Id: ${requestId}`,
		'Connection: close',
	]
	socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`)
}

function refusalFor(code: string | undefined): ApiError {
	if (code === 'HPE_HEADER_OVERFLOW')
		return new ApiError('headers_too_large', `The headers are larger than ${limits.maxHeaderSize / 1024} KiB.`)
	if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', 'The request took too long to arrive.')
	return new ApiError('invalid_request', 'This is not HTTP/1.1.')
}
