// How a server ends while clients, receivers, the mail server and the database do not cooperate.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInvoice } from '../src/billing/invoices/write.ts'
import { type Config, readConfig } from '../src/config.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { startServer } from '../src/server.ts'
import { holdWrites, startTestServer, type TestServer } from './harness.ts'
import { Remit } from './remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-shutdown-'))
const remit = new Remit({}, folder)
const sockets = new Set<Socket>()
let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(async () => {
	remit.stop()
	for (const socket of sockets) socket.destroy()
	await server.close()
	rmSync(folder, { recursive: true, force: true })
})

/** Starts another server on the same database, which the test closes. */
async function startAnother(settings: Partial<Config> = {}) {
	const config = { ...readConfig({ PORT: '0', INVOICING_RATE_LIMIT: '0' }), ...server.settings, ...settings }
	const log = pino({ level: 'silent' })
	return startServer({ db: await openDatabase(config, log), config, log })
}

/** A server that takes connections and bytes, and never answers; `reached` resolves with its first connection. */
async function startSilent() {
	const silent = createServer((socket) => void sockets.add(socket.on('error', () => {}).resume()))
	await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
	silent.unref()
	return { host: `127.0.0.1:${(silent.address() as AddressInfo).port}`, reached: once(silent, 'connection') }
}

interface Served {
	readonly url: string
	/** Absent: the key of the test's server. */
	readonly key?: string | undefined
}

/** A connection to a server, with what has arrived on it. */
class Client {
	readonly socket: Socket
	readonly #key: string
	text = ''

	constructor({ url, key = server.key }: Served) {
		this.#key = key
		this.socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1')
		sockets.add(this.socket.on('error', () => {}))
		this.socket.on('data', (text: string) => {
			this.text += text
		})
	}

	send(method: string, path: string, body?: { length: number; text: string }, more: readonly string[] = []): void {
		const about = body ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []
		const head = [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${this.#key}`, ...about, ...more]
		this.socket.write(`${head.join('\r\n')}\r\n\r\n${body?.text ?? ''}`)
	}

	/** Reads nothing more of the answer, whose beginning has arrived. */
	async stopReading(): Promise<void> {
		await expect.poll(() => this.text, { interval: 1, timeout: 10_000 }).not.toBe('')
		this.socket.pause()
	}

	/** The answer that arrives next. */
	async answer(): Promise<string> {
		await expect.poll(() => this.text, { interval: 5, timeout: 10_000 }).toContain('\r\n\r\n')
		const { text } = this
		this.text = ''
		return text
	}
}

const refuses = ({ url }: Served) =>
	expect.poll(() => fetch(url).then(String, () => 'refused'), { interval: 10, timeout: 10_000 }).toBe('refused')

/** Writes 100 invoices, whose list is 8 MB long. */
const writeLongList = ({ db, writing }: TestServer) =>
	db.transaction(async (tx) => {
		const notes = '\u{1F600}'.repeat(10_000)
		for (let count = 0; count < 100; count++) await createInvoice(writing(tx), { notes, paymentTerms: notes })
	})

/** Sends the beginning of an invoice, which the server has begun to read. */
async function stallUpload(to: Served): Promise<void> {
	const client = new Client(to)
	client.send('POST', '/api/invoices', { length: 100, text: '{"notes":' }, ['Expect: 100-continue'])
	expect(await client.answer()).toMatch(/^HTTP\/1.1 100 /)
}

describe('a server that ends', () => {
	it('lets a slow client read a long answer to its end', async () => {
		await writeLongList(server)
		const another = await startAnother()
		const client = new Client(another)
		client.send('GET', '/api/invoices?limit=100')
		await client.stopReading()
		const closed = another.close()
		await refuses(another)
		// The server looks for idle connections a few times.
		await sleep(100)
		client.socket.resume()
		await Promise.all([once(client.socket, 'close'), closed])
		const [head = '', body = ''] = client.text.split('\r\n\r\n')
		expect(head).toMatch(/^HTTP\/1.1 200 /)
		expect(body.length).toBe(Number(/content-length: (\d+)/i.exec(head)?.[1]))
		expect(body.length).toBeGreaterThan(8_000_000)
	})

	it('answers what is under way, and what comes on a kept connection meanwhile, with Connection: close', async () => {
		const another = await startAnother()
		const [first, kept] = [new Client(another), new Client(another)]
		const release = await holdWrites(server)
		first.send('POST', '/api/invoices')
		kept.send('GET', '/api/companies')
		expect(await kept.answer()).toMatch(/^HTTP\/1.1 200 .*connection: keep-alive/is)
		const closed = another.close()
		await refuses(another)
		kept.send('GET', '/api/companies')
		expect(await kept.answer()).toMatch(/^HTTP\/1.1 200 .*connection: close/is)
		await release()
		expect(await first.answer()).toMatch(/^HTTP\/1.1 201 .*connection: close/is)
		await closed
	})

	it('takes requests for DRAIN_SECONDS, while /ready sends load balancers away', async () => {
		const another = await startAnother({ DRAIN_SECONDS: 2 })
		const ask = (path: string) => fetch(another.url + path, { headers: { authorization: `Bearer ${server.key}` } })
		const began = performance.now()
		const closed = another.close()
		const ready = await ask('/ready')
		const detail = expect.stringMatching(/^The server is ending\.$/)
		expect([ready.status, await ready.json()]).toEqual([503, expect.objectContaining({ code: 'unavailable', detail })])
		const answers = [await ask('/health'), await ask('/api/companies')]
		// Whoever keeps connections opens the next one, and the load balancer sends it elsewhere.
		expect(answers.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([
			[200, 'close'],
			[200, 'close'],
		])
		await closed
		expect(performance.now() - began).toBeGreaterThan(1_900)
		await refuses(another)
	})

	it('breaks off stalled uploads, clients that do not read, the mail server and receivers that hang', async () => {
		const [mail, receiver] = [await startSilent(), await startSilent()]
		const smtp = { SMTP_URL: `smtp://${mail.host}`, MAIL_FROM: 'invoices@remit.example' }
		const stopped = await startTestServer({ ...smtp, SHUTDOWN_SECONDS: 4 })
		await writeLongList(stopped)
		await stallUpload(stopped)
		const reader = new Client(stopped)
		reader.send('GET', '/api/invoices?limit=100')
		await reader.stopReading()
		await stopped.remit.webhooks.endpoints.create({ url: `http://${receiver.host}/hook`, eventTypes: ['*'] })
		const { id } = await stopped.remit.invoices.create({})
		const sender = new Client(stopped)
		const text = JSON.stringify({ to: 'ada@example.com' })
		sender.send('POST', `/api/invoices/${id}/send`, { length: text.length, text })
		await Promise.all([mail.reached, receiver.reached])
		const began = performance.now()
		await stopped.close()
		expect(performance.now() - began).toBeLessThan(7_000)
		expect(await sender.answer()).toMatch(/^HTTP\/1.1 502 .*the server stopped/is)
	})
})

describe('the process', () => {
	it('ends at once at a second signal', async () => {
		const { DATABASE_URL = '', DATA_DIR = folder } = server.settings
		const process = await remit.serve({ DATABASE_URL, DATA_DIR, SHUTDOWN_SECONDS: '600' })
		await stallUpload(process)
		void process.end('SIGTERM')
		await refuses(process)
		// Sooner, the second signal would be taken for the first.
		await sleep(100)
		expect(await process.end('SIGINT')).toEqual([null, 'SIGINT'])
	})

	it('gives DRAIN_SECONDS beside SHUTDOWN_SECONDS, and ends at once at a second signal meanwhile', async () => {
		const { DATABASE_URL = '', DATA_DIR = folder } = server.settings
		const settings = { DATABASE_URL, DATA_DIR, DRAIN_SECONDS: '6', SHUTDOWN_SECONDS: '4' }
		const isReady = ({ url }: Served) => fetch(`${url}/ready`).then(({ ok }) => ok)
		const first = await remit.serve(settings)
		const ended = first.end('SIGTERM')
		await expect.poll(() => isReady(first), { interval: 10 }).toBe(false)
		expect(await ended).toEqual([0, null])
		const second = await remit.serve({ ...settings, DRAIN_SECONDS: '600' })
		void second.end('SIGTERM')
		await expect.poll(() => isReady(second), { interval: 10 }).toBe(false)
		// Sooner, the second signal would be taken for the first.
		await sleep(100)
		expect(await second.end('SIGINT')).toEqual([null, 'SIGINT'])
	})

	it('ends in its time although the database hangs', async () => {
		const { DATABASE_URL } = server.settings
		if (!DATABASE_URL) return
		const { port, hostname } = new URL(DATABASE_URL)
		const database: Socket[] = []
		const proxy = createServer((socket) => {
			const far = connect(Number(port || 5432), hostname)
			for (const end of [socket, far]) sockets.add(end.on('error', () => {}))
			database.push(far)
			socket.pipe(far).pipe(socket)
		})
		await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
		proxy.unref()
		const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
		const through = Object.assign(new URL(DATABASE_URL), { host }).href
		const process = await remit.serve({ DATABASE_URL: through, SHUTDOWN_SECONDS: '2' })
		for (const far of database) far.unpipe().pause()
		new Client(process).send('GET', '/api/invoices')
		const began = performance.now()
		const [code, signal] = await process.end('SIGTERM')
		expect(code ?? signal).toBe(signal === null ? 0 : 'SIGTERM')
		expect(performance.now() - began).toBeLessThan(4_000)
	})
})
