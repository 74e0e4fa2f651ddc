// What pages of other origins may do.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'

const page = 'https://app.example.com'
let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ CORS_ORIGINS: [page, 'http://localhost:5173'], WEB: 'on' })
})
afterAll(() => server.close())

const ask = (path: string, headers: Record<string, string>, method = 'GET', { url } = server) =>
	fetch(url + path, { method, headers })
const asking = (method: string) => ({
	origin: page,
	'access-control-request-method': method,
	'access-control-request-headers': 'authorization',
})
const ofCors = ({ headers }: Response) => [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('a page of an origin that is named', () => {
	it('may ask whether it may send a request', async () => {
		const answer = await ask('/api/companies/cmp_1', asking('PATCH'), 'OPTIONS')
		expect(answer.status).toBe(204)
		expect(Object.fromEntries(answer.headers)).toMatchObject({
			'access-control-allow-origin': page,
			'access-control-allow-methods': expect.stringMatching(/\bGET\b.*\bPATCH\b/),
			'access-control-allow-headers': expect.stringMatching(/Authorization.*Content-Type.*Idempotency-Key.*If-Match/),
			'access-control-max-age': '7200',
			vary: 'Origin',
		})
		expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
	})

	it('reads answers, errors among them, with the headers that the SDK needs', async () => {
		const found = await ask('/api/companies', { origin: page, authorization: `Bearer ${server.key}` })
		const missing = await ask('/api/companies/cmp_unknown', { origin: page, authorization: `Bearer ${server.key}` })
		const stranger = await ask('/webhooks/endpoints', { origin: page })
		expect([found.status, missing.status, stranger.status]).toEqual([200, 404, 401])
		for (const answer of [found, missing, stranger]) {
			expect(answer.headers.get('access-control-allow-origin')).toBe(page)
			expect(answer.headers.get('vary')).toContain('Origin')
			expect(answer.headers.get('access-control-expose-headers')).toMatch(/ETag.*Link.*Retry-After.*X-RateLimit-Reset/)
		}
	})
})

it('A page of another origin may not, nor one of no origin', async () => {
	for (const origin of ['https://app.example.com.evil.example', 'http://app.example.com', 'null']) {
		const preflight = await ask('/api/companies', { ...asking('GET'), origin }, 'OPTIONS')
		expect([preflight.status, ofCors(preflight)]).toEqual([405, []])
		expect(ofCors(await ask('/api/companies', { origin, authorization: `Bearer ${server.key}` }))).toEqual([])
	}
	expect(ofCors(await ask('/api/companies', { authorization: `Bearer ${server.key}` }))).toEqual([])
})

it('Pages of the server itself are no part of it, and OPTIONS without a question neither', async () => {
	for (const path of ['/app', '/docs', '/view/invoice/unknown', '/health', '/api/nothing'])
		expect([path, ofCors(await ask(path, { origin: page }))]).toEqual([path, []])
	expect((await ask('/api/companies', { origin: page }, 'OPTIONS')).status).toBe(405)
})

it('Without the setting no origin may', async () => {
	const other = await startTestServer()
	try {
		const preflight = await ask('/api/companies', asking('GET'), 'OPTIONS', other)
		expect([preflight.status, ofCors(preflight)]).toEqual([405, []])
	} finally {
		await other.close()
	}
})
