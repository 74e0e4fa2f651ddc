// The SDK through a proxy that loses every third call, before its effect or after it: each effect happens once.
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Remit } from '@remit/sdk'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'

const unavailable = (status: number, headers: Record<string, string>) => (response: ServerResponse) => {
	response.writeHead(status, headers).end()
}
const atOnce = { 'Retry-After': '0' }
/** What happens in place of a request. */
const before = [
	(response: ServerResponse) => response.destroy(),
	unavailable(429, atOnce),
	unavailable(429, {}),
	unavailable(503, atOnce),
	unavailable(502, {}),
]
/** What happens in place of the answer, after its effect. */
const after = [(response: ServerResponse) => response.destroy(), unavailable(504, atOnce)]

let server: TestServer
const faults = { before: 0, after: 0 }
let count = 0

const proxy = createServer((incoming, response) => {
	const fault = ++count % 3 === 0 ? Math.floor(count / 3) : undefined
	if (fault !== undefined && fault % 2 === 0) {
		faults.before++
		incoming.resume()
		return void before[(fault / 2) % before.length]?.(response)
	}
	const { method, url, headers } = incoming
	const outgoing = request(`${server.url}${url}`, { method, headers }, (answer) => {
		if (fault !== undefined) {
			faults.after++
			answer.resume().once('end', () => after[((fault - 1) / 2) % after.length]?.(response))
			return
		}
		response.writeHead(answer.statusCode ?? 500, answer.headers)
		answer.pipe(response)
	})
	incoming.pipe(outgoing)
})

beforeAll(async () => {
	server = await startTestServer({ INVOICING_RATE_LIMIT: 0 })
	await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
	vi.restoreAllMocks()
	proxy.closeAllConnections()
	proxy.close()
	await server.close()
})

it('every effect of a thousand calls happens once, though a third of them fail', async () => {
	// The pauses are as short as they can be.
	vi.spyOn(Math, 'random').mockReturnValue(0)
	const tenant = await server.newTenant()
	const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
	const remit = new Remit({ apiKey: tenant.key, baseUrl, maxRetries: 20 })
	const numbers = Array.from({ length: 250 }, (_, n) => n)
	const one = async (n: number) => {
		const { id } = await remit.invoices.create({ notes: `order ${n}`, totalCents: n })
		await remit.invoices.update(id, { taxLabel: `VAT ${n}` })
		expect(await remit.invoices.get(id)).toMatchObject({ taxLabel: `VAT ${n}`, version: 2 })
		if (n % 2 === 0) await remit.companies.create({ name: `company ${n}` })
		// The first answer may have been lost.
		else await remit.invoices.delete(id).catch((error) => expect(error).toMatchObject({ status: 404 }))
	}
	for (let at = 0; at < numbers.length; at += 50) await Promise.all(numbers.slice(at, at + 50).map(one))
	const [orders, companies]: (string | null)[][] = [[], []]
	for await (const { notes } of tenant.remit.invoices.list()) orders?.push(notes)
	for await (const { name } of tenant.remit.companies.list()) companies?.push(name)
	const kept = numbers.filter((n) => n % 2 === 0)
	expect(orders?.toSorted()).toEqual(kept.map((n) => `order ${n}`).toSorted())
	expect(companies?.toSorted()).toEqual(kept.map((n) => `company ${n}`).toSorted())
	expect(faults.before).toBeGreaterThan(100)
	expect(faults.after).toBeGreaterThan(100)
}, 120_000)
