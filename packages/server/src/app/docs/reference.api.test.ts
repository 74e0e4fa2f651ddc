// The API reference over HTTP: its headers, what is compressed and kept, and the document that it reads.
// docs.e2e.test.ts covers how it works in a browser, calls.api.test.ts whether its calls are true.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { calls } from '../../generated/calls.ts'
import { operations } from '../../platform/contract/routes.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ WEB: 'on' })
})
afterAll(() => server.close())

async function get(path: string, headers: Record<string, string> = {}, { url }: { url: string } = server) {
	const answer = await fetch(url + path, { headers: { 'accept-encoding': 'identity', ...headers } })
	return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() }
}

const lasting = ['/docs/5.35.0/swagger-ui-bundle.js', '/docs/5.35.0/swagger-ui.css']
const changing = ['/docs', '/docs/start.js', '/docs/style.css', '/docs/openapi.json']

describe('the page', () => {
	it('lets a browser load and send nothing but from and to the server', async () => {
		const { status, headers, text } = await get('/docs')
		expect([status, headers]).toMatchObject([
			200,
			{
				'content-type': 'text/html; charset=utf-8',
				'cross-origin-opener-policy': 'same-origin',
				'cross-origin-resource-policy': 'same-origin',
				'referrer-policy': 'same-origin',
				'x-content-type-options': 'nosniff',
			},
		])
		const policy = headers['content-security-policy']?.split('; ')
		expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]))
		expect(policy).toEqual(expect.arrayContaining(["connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]))
		expect(text).not.toMatch(/<style|<script>| style=| on\w+=|https?:/)
	})

	it('is the same with a slash at its end, and names files that are there', async () => {
		const { text } = await get('/docs')
		expect((await get('/docs/')).text).toBe(text)
		const named = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
		expect(named).toEqual(expect.arrayContaining([...lasting, '/docs/start.js', '/docs/style.css']))
		for (const path of named) expect([path, (await get(path)).status]).toEqual([path, 200])
	})
})

describe('a file', () => {
	it.each([...lasting, ...changing])('is compressed as the client takes it, and not sent again: %s', async (path) => {
		const plain = await get(path)
		expect(plain.headers['content-encoding']).toBeUndefined()
		for (const encoding of ['br', 'gzip']) {
			const packed = await get(path, { 'accept-encoding': encoding })
			expect(packed.text).toBe(plain.text)
			expect(packed.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' })
			expect(Number(packed.headers['content-length'])).toBeLessThan(plain.text.length)
			const tag = packed.headers.etag as string
			expect(tag).not.toBe(plain.headers.etag)
			const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': tag })
			expect(again).toMatchObject({ status: 304, text: '' })
		}
	})

	it('is kept for a year where its path has a version, and asked for again where it has none', async () => {
		for (const path of lasting) {
			expect((await get(path)).headers['cache-control']).toBe('public, max-age=31536000, immutable')
		}
		for (const path of changing) expect((await get(path)).headers['cache-control']).toBe('no-cache')
	})

	it.each([
		'/docs/missing.js',
		'/docs/5.35.0/index.html',
		'/docs/5.35.0/package.json',
		'/docs/5.35.0/..%2Fpackage.json',
		'/docs/1.0.0/swagger-ui.css',
	])('that is missing is 404, not the page: %s', async (path) => {
		const { status, headers, text } = await get(path)
		expect([status, headers['content-type']]).toEqual([404, 'application/problem+json'])
		expect(JSON.parse(text).code).toBe('route_not_found')
	})

	it('is only read: another method is 405', async () => {
		for (const path of [...lasting, ...changing]) {
			const refused = await fetch(server.url + path, { method: 'POST' })
			expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
		}
	})
})

describe('the document', () => {
	it('is the contract with the calls of each operation', async () => {
		const [contract, shown] = await Promise.all(['/openapi.json', '/docs/openapi.json'].map((path) => get(path)))
		const [plain, called] = [contract, shown].map((answer) => JSON.parse(answer?.text as string))
		expect(called.components).toEqual(plain.components)
		for (const { id, method, path } of operations) {
			const [{ description: words, ...same }, { description, ...other }] = [plain, called].map(
				({ paths }) => paths[path][method.toLowerCase()],
			)
			expect(other).toEqual(same)
			expect(description.startsWith(`${words}\n\n\`\`\`ts\n`), id).toBe(true)
			const address = `"${server.url}${path.replaceAll(/\{(\w+)\}/g, '$$$1')}"`
			expect(description).toContain(calls[id]?.curl ? address : 'session: true')
		}
	})
})

it('a document names the server by BASE_URL, for a client that is made of the file', async () => {
	const other = await startTestServer({ WEB: 'on', BASE_URL: 'https://remit.example' })
	for (const path of ['/openapi.json', '/docs/openapi.json']) {
		const { servers } = JSON.parse((await get(path, {}, other)).text)
		expect(servers).toMatchObject([{ url: 'https://remit.example' }])
	}
	await other.close()
})

it('WEB=off leaves the contract for programs alone', async () => {
	const other = await startTestServer({ WEB: 'off' })
	for (const path of [...lasting, ...changing]) expect((await get(path, {}, other)).status).toBe(404)
	expect((await get('/openapi.json', {}, other)).status).toBe(200)
	await other.close()
})
