// Attempts at misbehaving receivers, each at the far end of a real socket.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { openEgress } from './egress.ts'
import { deliver, type Outcome } from './http.ts'
import type { Lookup } from './resolver.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
	for (const close of closers.splice(0).reverse()) await close()
})

interface Receiver {
	readonly port: number
	readonly url: string
	/** The text of each request. */
	readonly requests: string[]
}

/** A receiver that sends `answer` to each request, or calls it with the request's socket. */
async function receiver(answer: string | Uint8Array | ((socket: Socket, count: number) => void)): Promise<Receiver> {
	const requests: string[] = []
	const sockets = new Set<Socket>()
	const server = createServer((socket) => {
		sockets.add(socket)
		socket.on('error', () => {}).setNoDelay()
		let text = ''
		socket.on('data', (chunk) => {
			text += chunk
			if (!text.endsWith('}')) return
			requests.push(text)
			text = ''
			if (typeof answer === 'function') answer(socket, requests.length)
			else socket.write(answer)
		})
	})
	closers.push(() => stop(server, sockets))
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const { port } = server.address() as AddressInfo
	return { port, url: `http://127.0.0.1:${port}/hook`, requests }
}

async function stop(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
	for (const socket of sockets) socket.destroy()
	server.close()
	await once(server, 'close')
}

interface Sending {
	timeoutMs?: number
	signal?: AbortSignal
	lookup?: Lookup
}

/** Returns a function that delivers to a receiver; its deliveries to one receiver share sockets. */
function sender({ timeoutMs = 2_000, signal = new AbortController().signal, lookup }: Sending = {}) {
	const egress = openEgress({ allowCidrs: ['127.0.0.0/8'], ...(lookup && { lookup }) })
	// Not awaited: `close` waits for sockets that a receiver may keep.
	closers.push(() => void egress.close())
	return (url: string): Promise<Outcome> =>
		deliver({ url, headers: { 'webhook-id': 'evt_1' }, body: '{"a":1}' }, { egress, timeoutMs, signal })
}

const post = async (answer: Parameters<typeof receiver>[0], sending?: Sending) => sender(sending)((await receiver(answer)).url)

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine'

describe('an attempt', () => {
	it('is a POST of JSON with the given headers', async () => {
		const { url, requests } = await receiver(ok)
		expect(await sender()(url)).toEqual({
			responseStatus: 200,
			responseBody: 'fine',
			retryAfter: undefined,
			error: null,
			durationMs: expect.any(Number),
			brokenOff: false,
			heldBack: false,
			unreached: false,
			sent: true,
		})
		const [head = '', body] = (requests[0] ?? '').split('\r\n\r\n')
		expect(body).toBe('{"a":1}')
		const lines = head.toLowerCase().split('\r\n')
		expect(lines[0]).toBe('post /hook http/1.1')
		expect(lines).toEqual(expect.arrayContaining(['content-type: application/json', 'content-length: 7', 'webhook-id: evt_1']))
		expect(lines.find((line) => line.startsWith('user-agent:'))).toMatch(/^user-agent: remit\/\S+ \(webhooks\)$/)
	})

	it('succeeds with any 2xx, and fails with any other status, which the error names', async () => {
		for (const status of [200, 201, 202, 204, 206, 299])
			expect(await post(`HTTP/1.1 ${status} Fine\r\ncontent-length: 0\r\n\r\n`)).toMatchObject({
				responseStatus: status,
				error: null,
			})
		for (const status of [400, 401, 404, 410, 429, 500, 503, 599])
			expect(await post(`HTTP/1.1 ${status} No\r\ncontent-length: 2\r\n\r\nno`)).toMatchObject({
				responseStatus: status,
				responseBody: 'no',
				error: `answered ${status}`,
			})
	})

	it('returns the receiver’s Retry-After, and none when the answer has two', async () => {
		const answer = (header: string) => `HTTP/1.1 503 No\r\n${header}content-length: 0\r\n\r\n`
		expect(await post(answer('Retry-After: 120\r\n'))).toMatchObject({ retryAfter: '120' })
		expect(await post(answer('Retry-After: 1\r\nRetry-After: 2\r\n'))).toMatchObject({ error: 'answered 503' })
		expect(await post(answer(''))).toMatchObject({ retryAfter: undefined })
	})

	it('does not follow a redirect, and never calls where it leads', async () => {
		const target = await receiver(ok)
		for (const status of [301, 302, 303, 307, 308]) {
			const answer = `HTTP/1.1 ${status} There\r\nlocation: ${target.url}\r\ncontent-length: 0\r\n\r\n`
			expect(await post(answer)).toMatchObject({
				responseStatus: status,
				error: `answered ${status}; redirects are not followed`,
			})
		}
		expect(target.requests).toEqual([])
	})

	it('skips informational answers', async () => {
		const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
		expect(await post(`HTTP/1.1 102 Processing\r\n\r\n${hints.repeat(3)}${ok}`)).toMatchObject({
			responseStatus: 200,
			error: null,
		})
	})

	it('skips a 100 Continue that nobody asked for, alone or before the answer, again and again', async () => {
		const go = 'HTTP/1.1 100 Continue\r\n\r\n'
		const apart = (socket: Socket) => {
			socket.write(`HTTP/1.1 100 Continue\r\nserver: old\r\n\r\n`, () => setImmediate(() => socket.write(go + ok)))
		}
		const { url, requests } = await receiver((socket, count) => (count === 2 ? apart(socket) : socket.write(go + go + ok)))
		const send = sender()
		for (let i = 0; i < 3; i++) expect(await send(url)).toMatchObject({ responseStatus: 200, responseBody: 'fine', error: null })
		expect(requests).toHaveLength(3)
	})

	it('fails at the time limit when only informational answers come', async () => {
		const outcome = await post(
			(socket) => {
				const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20)
				socket.on('close', () => clearInterval(timer))
			},
			{ timeoutMs: 300 },
		)
		expect(outcome).toMatchObject({ responseStatus: null, error: 'no complete answer within 0.3 s' })
	})

	it('fails when the receiver changes the protocol', async () => {
		const outcome = await post('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
		expect(outcome.error).toEqual(expect.any(String))
		expect(outcome).toMatchObject({ responseStatus: null, brokenOff: false })
	})

	it('takes a 204 with a body, and does not read that body as the next answer', async () => {
		const { url, requests } = await receiver(
			'HTTP/1.1 204 No\r\ncontent-length: 30\r\n\r\nHTTP/1.1 500 No\r\nx: 12345678\r\n\r\n',
		)
		const send = sender()
		const outcomes = [await send(url), await send(url), await send(url)]
		expect(outcomes.map(({ responseStatus, error }) => [responseStatus, error])).toEqual(Array(3).fill([204, null]))
		expect(requests).toHaveLength(3)
	})
})

describe('what is kept of an answer', () => {
	const answered = async (body: Uint8Array, headers = '') =>
		(await post(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${headers}\r\n`), body])))
			.responseBody

	it('is its first 16 KiB', async () => {
		expect(await answered(Buffer.alloc(100_000, 'x'))).toBe('x'.repeat(16 * 1024))
		expect(await answered(Buffer.alloc(0))).toBe('')
	})

	it('is text that a database can hold, whatever the bytes', async () => {
		expect(await answered(Buffer.from('Zoë 株式会社 🧾'))).toBe('Zoë 株式会社 🧾')
		expect(await answered(Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80, 0x62]))).toMatch(/^a\uFFFD+b$/)
		const zipped = await answered(gzipSync('{"ok":true}'), 'content-encoding: gzip\r\n')
		expect(zipped).not.toContain('\0')
		expect(zipped?.isWellFormed()).toBe(true)
		const cut = await answered(Buffer.from(`x${'🧾'.repeat(5_000)}`))
		expect(cut).toMatch(/^x(🧾)+\uFFFD+$/u)
	})

	it('is cut off when an answer has no end', async () => {
		let written = 0
		const outcome = await post((socket) => {
			socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
			const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
			const more = () => {
				while (!socket.destroyed && socket.write(chunk)) written += chunk.length
			}
			socket.on('drain', more)
			more()
		})
		expect(outcome).toMatchObject({ responseStatus: 200, responseBody: 'x'.repeat(16 * 1024), error: null })
		expect(outcome.durationMs).toBeLessThan(1_500)
		expect(written).toBeLessThan(50_000_000)
	})
})

describe('an answer whose body does not come to its end', () => {
	const cut: Readonly<Record<string, (socket: Socket, head: string) => void>> = {
		'closed early': (socket, head) => socket.end(`${head}content-length: 10\r\n\r\nhalf`),
		'closed in a chunk': (socket, head) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n9\r\nhalf`),
		reset: (socket, head) => socket.write(`${head}content-length: 10\r\n\r\nhalf`, () => socket.resetAndDestroy()),
		endless: (socket, head) => socket.write(`${head}content-length: 10\r\n\r\nhalf`),
		'not HTTP': (socket, head) => socket.write(`${head}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n`),
	}
	for (const [how, send] of Object.entries(cut))
		it(`has its status and its Retry-After: ${how}`, async () => {
			for (const status of [200, 202, 410, 429, 503, 500]) {
				const head = `HTTP/1.1 ${status} X\r\nretry-after: 7\r\n`
				expect(await post((socket) => send(socket, head), { timeoutMs: 300 }), String(status)).toMatchObject({
					responseStatus: status,
					retryAfter: '7',
					error: status < 300 ? null : `answered ${status}`,
					brokenOff: false,
					sent: true,
				})
			}
		})
})

describe('an attempt without an answer', () => {
	const failure = async (answer: Parameters<typeof receiver>[0], sending?: Sending) => {
		const outcome = await post(answer, sending)
		expect(outcome).toMatchObject({ responseStatus: null, responseBody: null, retryAfter: undefined, brokenOff: false })
		return outcome.error
	}

	it('ends at the time limit when the receiver is silent, or drips its headers for ever', async () => {
		expect(await failure(() => {}, { timeoutMs: 300 })).toBe('no complete answer within 0.3 s')
		const drip = (head: string) => (socket: Socket) => {
			socket.write(head)
			const timer = setInterval(() => socket.write('x'), 20)
			socket.on('close', () => clearInterval(timer))
		}
		expect(await failure(drip('HTTP/1.1 200 OK\r\nx-'), { timeoutMs: 300 })).toBe('no complete answer within 0.3 s')
	})

	it('says that the connection was reset, or closed before the answer was complete', async () => {
		const incomplete = 'connection closed before the answer was complete'
		expect(await failure((socket) => socket.resetAndDestroy())).toBe('connection reset')
		expect(await failure((socket) => socket.end())).toBe(incomplete)
		expect(await failure((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-'))).toBe(incomplete)
	})

	it('says that nobody listens', async () => {
		const { url } = await receiver(ok)
		await closers.pop()?.()
		expect((await sender()(url)).error).toBe('connection refused')
	})

	it('says that the answer is not HTTP, or that its headers are too large', async () => {
		expect(await failure('SSH-2.0-OpenSSH_9.9\r\n')).toBe('the answer is not HTTP')
		expect(await failure('HTTP/1.1 200 OK\r\nno header\r\n\r\n')).toBe('the answer is not HTTP')
		expect(await failure('HTTP/1.1 099 Odd\r\n\r\n')).toBe('the request failed')
		expect(await failure('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx')).toBe('the answer is not HTTP')
		const large = `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`
		expect(await failure(large)).toBe('the headers of the answer are too large')
	})

	it('says that TLS failed with a receiver that does not speak it', async () => {
		const plain = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'))
		closers.push(() => plain.close())
		plain.listen(0, '127.0.0.1')
		await once(plain, 'listening')
		const { error } = await sender()(`https://127.0.0.1:${(plain.address() as AddressInfo).port}/`)
		expect(error).toMatch(/^TLS: \w+$/)
	})

	it('ends at the time limit when the TLS handshake, or the look-up of the name, does not end', async () => {
		const { port } = await receiver(() => {})
		const began = performance.now()
		expect((await sender({ timeoutMs: 300 })(`https://127.0.0.1:${port}/`)).error).toBe('no complete answer within 0.3 s')
		const never: Lookup = () => new Promise(() => {})
		const { error } = await sender({ timeoutMs: 300, lookup: never })('http://hooks.example/')
		expect(error).toBe('no complete answer within 0.3 s')
		expect(performance.now() - began).toBeLessThan(3_000)
	})

	it('says that the host has no address any more', async () => {
		const lookup: Lookup = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }))
		const { error } = await sender({ lookup })('http://gone.example/')
		expect(error).toBe('The host gone.example has no address that could be found.')
	})

	it('says that the host now has a private address, and opens no socket to it', async () => {
		const { port, requests } = await receiver(ok)
		const addresses = ['127.0.0.1', '10.0.0.7', '169.254.169.254']
		const lookup: Lookup = async () => [{ address: addresses.shift() ?? '', family: 4 }]
		const url = `http://127.0.0.1.example:${port}/`
		const answers = [await sender({ lookup })(url), await sender({ lookup })(url), await sender({ lookup })(url)]
		const rejected = expect.stringMatching(/^The host 127\.0\.0\.1\.example is not on the public internet/)
		expect(answers.map(({ error }) => error)).toEqual([null, rejected, rejected])
		expect(requests).toHaveLength(1)
	})

	it('reveals nothing about the server’s own network', async () => {
		const lookup: Lookup = () => Promise.reject(new Error('SERVFAIL from 10.0.0.2 in /etc/resolv.conf'))
		const { error } = await sender({ lookup })('http://hooks.example/')
		expect(error).not.toMatch(/10\.0\.0\.2|resolv/)
	})
})

describe('an attempt that is broken off', () => {
	it('ends at once and counts as not made', async () => {
		const controller = new AbortController()
		const outcome = await post(() => controller.abort(), { timeoutMs: 10_000, signal: controller.signal })
		expect(outcome).toMatchObject({ brokenOff: true, responseStatus: null })
		expect(outcome.durationMs).toBeLessThan(2_000)
	})

	it('is not made when the signal was aborted before it', async () => {
		const { url, requests } = await receiver(ok)
		const outcome = await sender({ signal: AbortSignal.abort() })(url)
		expect(outcome.brokenOff).toBe(true)
		expect(requests).toEqual([])
	})
})
