// Calls through a real proxy to a receiver with TLS.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEgress } from './egress.ts'
import { deliver } from './http.ts'
import { call } from './providers/json-call.ts'
import { ForwardProxy } from './proxy.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-proxy-'))
const certificates = getCACertificates()
const servers: Server[] = []
afterAll(() => {
	setDefaultCACertificates(certificates)
	for (const server of servers) server.close()
	rmSync(folder, { recursive: true })
})

async function listening(server: Server): Promise<number> {
	servers.push(server.listen(0, '127.0.0.1'))
	await once(server, 'listening')
	return (server.address() as AddressInfo).port
}

/** What the proxy was asked for. */
let asked: (string | undefined)[][] = []
let status = 200
let proxyPort: number
let port: number
beforeAll(async () => {
	const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
	const subject = ['-subj', '/CN=hooks.example', '-addext', 'subjectAltName=DNS:hooks.example']
	const files = ['-keyout', key, '-out', cert, '-days', '2', '-nodes']
	execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, ...files], { stdio: 'ignore' })
	setDefaultCACertificates([...certificates, readFileSync(cert, 'utf8')])
	const answer = (_: unknown, res: { end(text: string): void }) => res.end('{"ok":true}')
	port = await listening(createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, answer))
	const proxy = createServer().on('connect', ({ url = '', headers }, socket, head) => {
		asked.push([url, headers['proxy-authorization']])
		if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
		const [host = '', at] = url.split(/:(?=\d+$)/)
		const target = connect(Number(at), host, () => {
			socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
			target.write(head)
			target.pipe(socket).pipe(target)
		})
		target.on('error', () => socket.destroy())
		socket.on('error', () => target.destroy())
	})
	proxyPort = await listening(proxy)
})

const settings = (exceptions = '') => ({ HTTPS_PROXY: `http://ada:p%40ss@127.0.0.1:${proxyPort}`, NO_PROXY: exceptions })

async function deliverTo(address: string, exceptions?: string) {
	asked = []
	const lookup = async () => [{ address, family: 4 } as const]
	const egress = openEgress({ allowCidrs: ['127.0.0.0/8'], lookup, proxy: settings(exceptions) })
	const sent = { url: `https://hooks.example:${port}/`, headers: {}, body: '{}' }
	const outcome = await deliver(sent, { egress, timeoutMs: 5_000, signal: new AbortController().signal })
	await egress.close()
	return { status: outcome.responseStatus, error: outcome.error }
}

describe('with HTTPS_PROXY', () => {
	it('a call goes through it to the address that the guard let through, with its login', async () => {
		expect(await deliverTo('127.0.0.1')).toEqual({ status: 200, error: null })
		expect(asked).toEqual([[`127.0.0.1:${port}`, `Basic ${Buffer.from('ada:p@ss').toString('base64')}`]])
	})

	it('an address that is not public is refused, and the proxy never asked', async () => {
		expect((await deliverTo('10.0.0.7')).error).toMatch(/^The host hooks\.example is not on the public internet/)
		expect(asked).toEqual([])
	})

	it('a host of NO_PROXY is called directly', async () => {
		expect(await deliverTo('127.0.0.1', 'a.example, .example')).toEqual({ status: 200, error: null })
		expect(asked).toEqual([])
	})

	it('a probe knows the network that it reached', async () => {
		const lookup = async () => [{ address: '127.0.0.1', family: 4 } as const]
		const egress = openEgress({ allowCidrs: ['127.0.0.0/8'], lookup, proxy: settings() })
		const sent = { url: `https://hooks.example:${port}/`, headers: {}, body: '{}' }
		const networks = async (all: readonly string[]) => all
		const outcome = await deliver(sent, { egress, timeoutMs: 5_000, signal: new AbortController().signal, networks })
		await egress.close()
		expect(outcome).toMatchObject({ responseStatus: 200, network: '127.0.0.1/32' })
	})

	it('a proxy that refuses, or that nobody can reach, is said to, and nothing was sent', async () => {
		status = 403
		expect((await deliverTo('127.0.0.1')).error).toBe("The server's proxy (HTTPS_PROXY) answered 403.")
		status = 200
		const proxy = { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '' }
		const egress = openEgress({ allowCidrs: ['127.0.0.0/8'], lookup: async () => [{ address: '127.0.0.1', family: 4 }], proxy })
		const request = { method: 'GET', url: `https://hooks.example:${port}/`, headers: {} } as const
		const failure = await call(egress, request, { timeoutMs: 5_000, maxBytes: 1_000 }).catch((error) => error)
		await egress.close()
		expect(failure).toMatchObject({
			code: 'unreachable',
			isUnsent: true,
			message: "The server's proxy (HTTPS_PROXY) cannot be reached.",
		})
	})
})

it.each([
	['', 'a.example', true],
	['*', 'a.example', false],
	['a.example', 'a.example', false],
	['a.example', 'b.A.example', false],
	['a.example', 'ba.example', true],
	['.a.example,*.b.example', 'x.b.example', false],
	['10.0.0.0/8', '10.1.2.3', false],
	['10.0.0.0/8', '11.1.2.3', true],
	['10.0.0.0/99', '10.1.2.3', true],
	['10.0.0.0/8', '10.example', true],
	['::1 127.0.0.1', '127.0.0.1', false],
	['[2001:db8::]/32', '2001:db8::7', false],
	['a.example:443', 'a.example', false],
	['.a.example:443', 'b.a.example', false],
	['a.example:8443,127.0.0.1:8443', 'a.example', true],
	['127.0.0.1:443', '127.0.0.1', false],
	['[2001:db8::1]:443', '2001:db8::1', false],
	['2001:db8::1', '2001:db8::1', false],
])('NO_PROXY %j: %s is asked for through the proxy: %s', (exceptions, host, isFor) => {
	expect(new ForwardProxy(settings(exceptions), 1_000).isFor(host, 443)).toBe(isFor)
})
