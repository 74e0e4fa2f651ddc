// Calls to misbehaving providers, each at the far end of a real socket.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { createGzip, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { openEgress } from '../egress.ts'
import type { Lookup } from '../resolver.ts'
import { CallFailed, type CallLimits, callJson } from './json-call.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
	for (const close of closers.splice(0).reverse()) await close()
})

async function provider(answer: RequestListener): Promise<string> {
	const server = createServer(answer).listen(0, '127.0.0.1')
	closers.push(
		() => server.closeAllConnections(),
		() => server.close(),
	)
	await once(server, 'listening')
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/things?limit=1`
}

/** A provider below HTTP, which answers each request with these bytes. */
async function rawProvider(answer: string, ends = false): Promise<string> {
	const sockets = new Set<Socket>()
	const server = createSocketServer((socket) => {
		sockets.add(socket)
		socket.on('error', () => {}).once('data', () => (ends ? socket.end(answer) : socket.write(answer)))
	}).listen(0, '127.0.0.1')
	closers.push(() => server.close())
	closers.push(() => {
		for (const socket of sockets) socket.destroy()
	})
	await once(server, 'listening')
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

interface Asking extends Partial<CallLimits> {
	allowCidrs?: string[]
	lookup?: Lookup
}

function ask(url: string, { allowCidrs = ['127.0.0.0/8'], lookup, ...limits }: Asking = {}) {
	const egress = openEgress({ allowCidrs, ...(lookup && { lookup }) })
	closers.push(() => void egress.close())
	const headers = { authorization: 'Bearer s3cr3t' }
	return callJson(egress, { method: 'GET', url, headers }, { timeoutMs: 5_000, maxBytes: 100_000, ...limits })
}

const failure = async (url: string | Promise<string>, asking?: Asking) => {
	const error = await ask(await url, asking).catch((thrown) => thrown)
	expect(error).toBeInstanceOf(CallFailed)
	expect(error.message).not.toContain('s3cr3t')
	return { code: error.code, message: error.message }
}

describe('a call', () => {
	it.each(['zstd', 'utf-8', 'gzip,gzip', 'none'])(
		'whose answer is in %s, which nobody reads, fails, and ends nothing else',
		async (encoding) => {
			const answer = `HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: 2\r\n\r\n{}`
			const { code, message } = await failure(rawProvider(answer, true))
			expect([code, message]).toEqual(['invalid_answer', 'The answer is compressed in a way that Remit does not read.'])
			// Its body would say that it was broken off.
			await new Promise(setImmediate)
		},
	)

	it('sends its headers and returns status, headers and JSON', async () => {
		const url = await provider((req, res) => {
			res.setHeader('x-remaining', '7')
			res.end(JSON.stringify({ url: req.url, authorization: req.headers.authorization }))
		})
		expect(await ask(url)).toMatchObject({
			status: 200,
			headers: { 'x-remaining': '7' },
			json: { url: '/things?limit=1', authorization: 'Bearer s3cr3t' },
		})
	})

	it('reads what is compressed', async () => {
		const url = provider((_, res) => res.setHeader('content-encoding', 'gzip').end(gzipSync('{"ok":true}')))
		expect((await ask(await url)).json).toEqual({ ok: true })
	})

	it('reads what begins with a byte order mark', async () => {
		const url = await provider((_, res) => res.end('\ufeff{"a":"ü"}'))
		expect(await ask(url)).toMatchObject({ json: { a: 'ü' } })
	})

	it('returns a status that is no success without its body', async () => {
		const url = provider((_, res) => res.writeHead(401).end('<html>'))
		expect(await ask(await url)).toMatchObject({ status: 401, json: undefined })
	})

	it('returns the status and the headers of an error whose body is cut, too large or broken', async () => {
		const head = 'HTTP/1.1 429 Slow down\r\nretry-after: 7\r\n'
		const answers = [
			rawProvider(`${head}content-length: 100\r\n\r\n{"a"`, true),
			rawProvider(`${head}content-length: 200000\r\n\r\n${'x'.repeat(200_000)}`),
			rawProvider(`${head}content-length: 8\r\ncontent-encoding: gzip\r\n\r\n{"a": 1}`),
		]
		for (const url of answers) expect(await ask(await url)).toMatchObject({ status: 429, headers: { 'retry-after': '7' } })
	})

	it('skips a 100 Continue that nobody asked for', async () => {
		const url = rawProvider('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
		expect(await ask(await url)).toMatchObject({ status: 200, json: {} })
	})
})

describe('a call fails with words for its caller', () => {
	it('when the answer is HTML, nothing, truncated or no HTTP', async () => {
		const answers = (text: string) => failure(provider((_, res) => res.end(text)))
		expect(await answers('<!doctype html><p>s3cr3t')).toEqual({
			code: 'invalid_answer',
			message: 'The provider answered a page (HTML) and not JSON.',
		})
		expect((await answers('')).message).toBe('The provider answered nothing.')
		expect((await answers('{"a":')).message).toBe('The provider answered no JSON, or only a part of it.')
		const cut = await rawProvider('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a"', true)
		expect(await failure(cut)).toMatchObject({ code: 'unreachable', message: expect.stringContaining('closed') })
		expect(await failure(rawProvider('nonsense\r\n\r\n'))).toMatchObject({ code: 'unreachable' })
	})

	it('when the answer is larger than the limit, also without an end', async () => {
		const endless = provider((_, res) => {
			const more = () => {
				while (res.write('x'.repeat(10_000)));
			}
			res.on('drain', more)
			more()
		})
		expect(await failure(endless)).toEqual({ code: 'answer_too_large', message: 'The answer is larger than 100000 bytes.' })
	})

	it('when a small answer decompresses to a large one, of which no more than the limit is ever there', async () => {
		let sent = 0
		const bomb = provider((_, res) => {
			res.setHeader('content-encoding', 'gzip')
			const gzip = createGzip({ level: 9 })
			gzip.on('data', (chunk) => {
				sent += chunk.length
				res.write(chunk)
			})
			gzip.on('end', () => res.end())
			for (let megabytes = 0; megabytes < 64; megabytes++) gzip.write(Buffer.alloc(1024 * 1024, 32))
			gzip.end()
		})
		expect(await failure(bomb)).toMatchObject({ code: 'answer_too_large' })
		expect(sent).toBeLessThan(200_000)
	})

	it('when it has so many parts or names that parsing it would hold all others', async () => {
		const most = (what: string) => ({ code: 'answer_too_large', message: `The answer has more than ${what}.` })
		const objects = `[${'{},'.repeat(160_000)}{}]`
		const names = `{${Array.from({ length: 50_001 }, (_, at) => `"${at}":1`)}}`
		const limits = { maxBytes: 8_000_000 }
		const answer = (text: string) => provider((_, res) => res.end(text))
		expect(await failure(answer(objects), limits)).toEqual(most('160000 objects and lists'))
		expect(await failure(answer(names), limits)).toEqual(most('50000 different field names'))
		const text = JSON.stringify([{ id: '{["\\"'.repeat(300_000) }])
		expect((await ask(await answer(text), limits)).json).toEqual(JSON.parse(text))
	})

	it('when compressed bytes are broken or cut off', async () => {
		const broken = (bytes: Uint8Array) => failure(provider((_, res) => res.setHeader('content-encoding', 'gzip').end(bytes)))
		expect(await broken(Buffer.from('no gzip at all'))).toMatchObject({ code: 'invalid_answer' })
		expect(await broken(gzipSync('{"ok":true}').subarray(0, 12))).toMatchObject({ code: 'invalid_answer' })
	})

	it('when the answer is a redirect, which is not followed', async () => {
		let calls = 0
		const url = provider((_, res) => {
			calls++
			res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
		})
		expect(await failure(url)).toEqual({
			code: 'invalid_answer',
			message: 'The provider answered 302, a redirect, which is not followed.',
		})
		expect(calls).toBe(1)
	})

	it('when the address is not public, and names the setting', async () => {
		const private_ = await failure('http://127.0.0.1:9/', { allowCidrs: [] })
		expect(private_).toMatchObject({ code: 'unsafe_url', message: expect.stringContaining('EGRESS_ALLOW_CIDRS') })
		const named = await failure('http://api.example/', { lookup: async () => [{ address: '10.0.0.7', family: 4 }] })
		expect(named).toMatchObject({ code: 'unsafe_url', message: expect.not.stringContaining('10.0.0.7') })
	})

	it('when nobody listens, or nothing or only a part comes in time', async () => {
		expect(await failure('http://127.0.0.1:1/')).toMatchObject({ code: 'unreachable', message: expect.stringMatching(/refused/) })
		const timeoutMs = 100
		expect(await failure(rawProvider(''), { timeoutMs })).toMatchObject({ code: 'timeout' })
		const slow = rawProvider('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a"')
		expect(await failure(slow, { timeoutMs })).toMatchObject({ code: 'timeout' })
		const lookup: Lookup = () => new Promise(() => {})
		expect(await failure('http://slow.example/', { timeoutMs, lookup })).toMatchObject({ code: 'timeout' })
	})
})

it('a call ends at once with the reason of the signal that aborts it', async () => {
	const reason = new Error('the caller is gone')
	const controller = new AbortController()
	const url = await provider(() => controller.abort(reason))
	await expect(ask(url, { signal: controller.signal })).rejects.toBe(reason)
})
