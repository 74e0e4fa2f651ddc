// What clients do to their connections: they go at once, or send thousands of requests ahead.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ TRUST_PROXY: 1 })
})
afterAll(() => server.close())

async function open(): Promise<Socket> {
	const { hostname, port } = new URL(server.url)
	const socket = connect(Number(port), hostname)
	await once(socket, 'connect')
	return socket
}

const createOf = (name: string) => {
	const body = JSON.stringify({ name })
	return `POST /api/companies HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r
Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

const addressesOf = async (name: string) => {
	const { data } = (await server.ask('GET', '/api/audit?limit=100')).body
	const entries = data.filter(({ after }: { after: { name?: string } | null }) => after?.name === name)
	return entries.map(({ address }: { address: string | null }) => address)
}

it('a change has the address of a client that is gone before it is written', async () => {
	const createAndGo = async () => {
		const socket = await open()
		socket.on('error', () => {})
		// The server has taken the connection once it has answered.
		socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
		await once(socket, 'data')
		socket.write(createOf('Gone'), () => socket.resetAndDestroy())
		return (await addressesOf('Gone')).length > 0
	}
	await vi.waitUntil(createAndGo, { timeout: 20_000 })
	expect(new Set(await addressesOf('Gone'))).toEqual(new Set(['127.0.0.1']))
})

describe('what a proxy tells of the client', () => {
	it.each([
		['203.0.113.9', '203.0.113.9'],
		['2001:db8::1', '2001:db8::1'],
		['unknown', '127.0.0.1'],
		['A'.repeat(8_000), '127.0.0.1'],
	])('is its address if it is one: %.12s', async (told, address) => {
		const name = `Told ${told.slice(0, 10)}`
		await server.ask('POST', '/api/companies', { body: { name }, headers: { 'x-forwarded-for': told } })
		expect(await addressesOf(name)).toEqual([address])
	})
})

describe('a client that sends thousands of requests ahead', () => {
	it('is cut off after sixteen, and others are answered', async () => {
		const socket = await open()
		let answers = ''
		socket.on('data', (data) => {
			answers += data
		})
		socket.on('error', () => {})
		const closed = new Promise((resolve) => socket.on('close', resolve))
		socket.write('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20_000))
		await closed
		expect(answers.split('HTTP/1.1 ').length - 1).toBeLessThanOrEqual(16)
		expect((await fetch(`${server.url}/health`)).status).toBe(200)
	})

	it('is answered while it sends no more than that', async () => {
		const socket = await open()
		let answers = ''
		socket.on('data', (data) => {
			answers += data
		})
		socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(16))
		await vi.waitFor(() => expect(answers.split('HTTP/1.1 200').length - 1).toBe(16), { timeout: 10_000 })
		socket.destroy()
	})
})

it('a webhook for an account that is not there is refused before its body arrives', async () => {
	const socket = await open()
	socket.write('POST /payments/stripe/webhook/org_none HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nbeginning')
	const [answer] = await once(socket, 'data')
	expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /)
	socket.destroy()
})
