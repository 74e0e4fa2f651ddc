// What one owner's many expensive requests leave to another: counted in answers and their parts, since the machine may be slow.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'

let server: TestServer
let other: Tenant
let id: string
let token: string
const agent = new Agent({ keepAlive: true })
const lineItems = Array.from({ length: 1_000 }, (_, line) => ({ description: `${line} é `.padEnd(400, 'x'), unitPriceCents: 1 }))
beforeAll(async () => {
	server = await startTestServer()
	other = await server.newTenant()
	for (let count = 0; count < 6; count++) id = (await server.remit.invoices.create({ lineItems })).id
	token = (await server.remit.invoices.clientLink.create(id)).url.split('/').at(-1) as string
})
afterAll(async () => {
	agent.destroy()
	await server.close()
})

function get(path: string, key = server.key, through = agent): Promise<number | undefined> {
	return new Promise((resolve, reject) => {
		const headers = { authorization: `Bearer ${key}` }
		request(server.url + path, { agent: through, headers }, (answer) => {
			answer.resume().once('end', () => resolve(answer.statusCode))
		})
			.once('error', reject)
			.end()
	})
}

/**
 * Sends all requests at once, and another organization's when the first of them has come so far. Returns how many times any of
 * them came so far, or farther, before the other was answered.
 */
async function aheadOf(
	other: Tenant,
	path: string,
	count: number,
	reached: 'answered' | 'written',
	ask = () => get('/api/deals', other.key),
): Promise<number> {
	// With open connections and known keys they all arrive in one turn of the loop.
	await Promise.all(Array.from({ length: count + 1 }, () => get('/api/companies')))
	await get('/api/deals', other.key)
	let ahead = 0
	let asked: Promise<unknown> | undefined
	let isAnswered = false
	const step = () => {
		asked ??= ask()
		if (!isAnswered) ahead++
	}
	const finish = (message: unknown) => {
		if ((message as { request: IncomingMessage }).request.url === '/api/deals') isAnswered = true
		else if (reached === 'answered') step()
	}
	subscribe('http.server.response.finish', finish)
	const write = vi.spyOn(ServerResponse.prototype, 'write')
	if (reached === 'written')
		write.mockImplementation(function (this: ServerResponse, ...args) {
			step()
			return original.apply(this, args as Parameters<typeof original>)
		})
	const statuses = await Promise.all(Array.from({ length: count }, () => get(path)))
	expect([new Set(statuses), await asked]).toEqual([new Set([200]), 200])
	unsubscribe('http.server.response.finish', finish)
	write.mockRestore()
	return ahead
}

const original = ServerResponse.prototype.write

describe("another organization's GET", () => {
	it("is answered amid the first of a visitor's 30 long pages", async () => {
		expect(await aheadOf(other, `/view/invoice/${token}`, 30, 'answered')).toBeLessThan(15)
	})

	it('is answered amid the first of 60 of a long invoice', async () => {
		expect(await aheadOf(other, `/api/invoices/${id}`, 60, 'answered')).toBeLessThan(30)
	})

	it('is answered amid the first of 20 previews of a long invoice whose bodies end at once', async () => {
		const body = JSON.stringify({ lineItems })
		const request = `POST /api/invoices/preview HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r
Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, -1)}`
		const sockets = Array.from({ length: 20 }, () => connect(Number(new URL(server.url).port), '127.0.0.1'))
		await Promise.all(sockets.map((socket) => new Promise((sent) => socket.write(request, sent))))
		for (let count = 0; count < 5; count++) await get('/api/deals', other.key)
		let ahead = 0
		const answers = sockets.map((socket) => {
			socket.write(body.slice(-1))
			return once(socket, 'data').then(([bytes]) => {
				ahead++
				return String(bytes).split(' ', 2)[1]
			})
		})
		expect(await get('/api/deals', other.key)).toBe(200)
		expect(ahead).toBeLessThan(10)
		expect(new Set(await Promise.all(answers))).toEqual(new Set(['200']))
		for (const socket of sockets) socket.destroy()
	})

	// On PostgreSQL answers are made as their rows arrive, and not by turns.
	if (inject('database') === 'sqlite') {
		it('is answered before each of 20 long lists has a part more', async () => {
			expect(await aheadOf(other, '/api/invoices?limit=6', 20, 'written')).toBeLessThan(20)
		})

		it('is answered amid the first of 60 of a long invoice on a new connection, behind 200 others', async () => {
			const idle = Array.from({ length: 200 }, () => new Socket())
			const ahead = await aheadOf(other, `/api/invoices/${id}`, 60, 'answered', () => {
				for (const socket of idle) socket.connect(Number(new URL(server.url).port), '127.0.0.1')
				return get('/api/deals', other.key, new Agent())
			})
			for (const socket of idle) socket.destroy()
			expect(ahead).toBeLessThan(30)
		})
	}
})
