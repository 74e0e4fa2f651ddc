// How many requests of one caller may be under way at once.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Answer, holdWrites, startTestServer, type TestServer } from '../../../../test/harness.ts'
import { rawClient } from '../../../../test/raw-client.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ REQUESTS_UNDER_WAY: 2 })
})
afterAll(() => server.close())

/** Asks until the request is let in: the one that asks whether others are held may be under way in its place. */
const untilLetIn = (ask: () => Promise<Answer>) =>
	vi.waitFor(
		async () => {
			const answer = await ask()
			expect(answer.status).not.toBe(429)
			return answer
		},
		{ timeout: 30_000 },
	)

/** Asks until the two requests that are held have reached the server. */
const expectRejected = (ask: () => Promise<Answer>, whose: string, count = 2) =>
	vi.waitFor(
		async () => {
			const { status, body, headers } = await ask()
			expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '1'])
			expect(body.detail).toContain(`This ${whose} has ${count} requests under way`)
		},
		{ timeout: 5_000 },
	)

it('a key may have so many requests under way, whatever other keys have, and more when they are answered', async () => {
	const other = await server.newTenant()
	const release = await holdWrites(server, 'invoices')
	const held = [1, 2].map(() => untilLetIn(() => server.ask('POST', '/api/invoices')))
	await expectRejected(() => server.ask('GET', '/api/companies'), 'key')
	expect((await other.ask('GET', '/api/companies')).status).toBe(200)
	await release()
	expect((await Promise.all(held)).map(({ status }) => status)).toEqual([201, 201])
	expect((await server.ask('GET', '/api/companies')).status).toBe(200)
})

it('an organization may have as many as two keys, however many keys it has', async () => {
	const keys = [server.key]
	while (keys.length < 3) keys.push((await server.newKey(['invoices:read', 'invoices:write'])).key)
	const release = await holdWrites(server, 'invoices')
	const post = (key: string | undefined) => untilLetIn(() => server.ask('POST', '/api/invoices', { key: key as string }))
	const held = [0, 0, 1, 1].map((index) => post(keys[index]))
	await expectRejected(() => server.ask('GET', '/api/invoices', { key: keys[2] as string }), 'organization', 4)
	await release()
	expect((await Promise.all(held)).map(({ status }) => status)).toEqual([201, 201, 201, 201])
})

it("so may a visitor's address", async () => {
	const { id } = await server.remit.invoices.create({})
	const token = (await server.remit.invoices.clientLink.create(id)).url.split('/').at(-1)
	const view = () => server.ask('GET', `/api/invoices/public/${token}`, { key: null })
	const release = await holdWrites(server, 'invoices')
	const held = [untilLetIn(view), untilLetIn(view)]
	await expectRejected(() => server.ask('GET', `/api/invoices/public/${token}/pdf`, { key: null }), 'address')
	await release()
	expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])
})

it('a caller who reads the answers and keeps the connections has nothing under way', async () => {
	const clients = Array.from({ length: 5 }, () => rawClient(server.url, server.key))
	// Each client keeps its connection; the second time round it uses it again.
	for (const { ask } of [...clients, ...clients]) expect((await ask('GET', '/api/companies')).status).toBe(200)
	for (const { close } of clients) close()
})

it('nor has one who hung up', async () => {
	const release = await holdWrites(server, 'invoices')
	const hangUp = new AbortController()
	const options = { method: 'POST', headers: { authorization: `Bearer ${server.key}` }, signal: hangUp.signal }
	const post = async (): Promise<string> => {
		const status = await fetch(`${server.url}/api/invoices`, options).then((answer) => answer.status, String)
		return status === 429 ? post() : String(status)
	}
	const ask = () => server.ask('GET', '/api/companies')
	const held = [post(), post()]
	await expectRejected(ask, 'key')
	hangUp.abort()
	expect(await Promise.all(held)).toEqual(Array(2).fill(expect.stringContaining('AbortError')))
	expect((await untilLetIn(ask)).status).toBe(200)
	await release()
})
