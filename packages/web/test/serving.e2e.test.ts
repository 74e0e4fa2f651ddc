// How the server gives the built pages to a browser: headers, encodings, and what is not there.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Remit, type Served } from '../../server/test/remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-serving-'))
const remit = new Remit({ DATA_DIR: folder }, folder)
let served: Served
beforeAll(async () => {
	served = await remit.serve()
})
afterAll(async () => {
	await served?.end('SIGTERM')
	remit.stop()
	rmSync(folder, { recursive: true })
})

interface Answer {
	readonly status: number | undefined
	readonly headers: Record<string, string | string[] | undefined>
	readonly bytes: Buffer
}

/** Not `fetch`, which decodes what it gets. */
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET', { url } = served) =>
	new Promise<Answer>((answered, failed) => {
		request(url + path, { method, headers }, async (response) => {
			const bytes = Buffer.concat(await response.toArray())
			answered({ status: response.statusCode, headers: response.headers, bytes })
		})
			.on('error', failed)
			.end()
	})

const browser = { 'accept-encoding': 'gzip, deflate, br' }
const text = ({ bytes }: Answer) => String(brotliDecompressSync(bytes))

it('An address is the page, which may load nothing but files of this server', async () => {
	const answer = await ask('/app/companies', browser)
	expect(answer).toMatchObject({
		status: 200,
		headers: {
			'content-type': 'text/html; charset=utf-8',
			'content-encoding': 'br',
			'cache-control': 'no-cache',
			'cross-origin-opener-policy': 'same-origin',
			'cross-origin-resource-policy': 'same-origin',
			'referrer-policy': 'same-origin',
			'x-content-type-options': 'nosniff',
			vary: 'Accept-Encoding',
		},
	})
	const policy = String(answer.headers['content-security-policy']).split('; ')
	expect(policy).toEqual(
		expect.arrayContaining([
			"default-src 'none'",
			"script-src 'self'",
			"trusted-types 'none'",
			"base-uri 'none'",
			"frame-ancestors 'none'",
		]),
	)
	expect(text(answer)).not.toMatch(
		/<script(?! type="module" fetchpriority="low" crossorigin src="\/app\/assets)|style=|https?:\/\/(?!www\.w3\.org)/,
	)
})

it('Each page names its files, so that a browser asks for them at once; each is there, for a year', async () => {
	const html = text(await ask('/app/companies/cmp_1', browser))
	const links = [...html.matchAll(/(?:href|src)="(\/app\/[^"]+)"/g)].map(([, link = '']) => link)
	expect(links.some((link) => link.includes('detail-page'))).toBe(true)
	expect(text(await ask('/app/companies/new', browser))).not.toContain('detail-page')
	for (const link of links) {
		const { status, headers, bytes } = await ask(link, browser)
		expect([link, status, headers['cache-control'], headers['content-encoding']]).toEqual([
			link,
			200,
			'public, max-age=31536000, immutable',
			'br',
		])
		const [gzip, plain] = await Promise.all([ask(link, { 'accept-encoding': 'gzip' }), ask(link)])
		expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes)
		expect(brotliDecompressSync(bytes)).toEqual(plain.bytes)
	}
})

it('A page that has not changed is not sent again', async () => {
	const { headers } = await ask('/app', browser)
	const { status, bytes } = await ask('/app', { ...browser, 'if-none-match': String(headers.etag) })
	expect([status, bytes.length]).toEqual([304, 0])
})

it('A file that is not there is 404, never the page', async () => {
	for (const path of ['/app/assets/gone-1234.js', '/app/pages.json', '/app/.inputs', '/app/index.html', '/app/../package.json']) {
		const { status, headers } = await ask(path, browser)
		expect([path, status, headers['content-type']]).toEqual([path, 404, 'application/problem+json'])
	}
})

it('The start leads to the application, and other methods are refused', async () => {
	expect(await ask('/')).toMatchObject({ status: 302, headers: { location: '/app' } })
	expect(await ask('/app/companies', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
	expect((await ask('/app', browser, 'HEAD')).bytes.length).toBe(0)
	expect((await ask('/application')).status).toBe(404)
})

it('A server for programs alone has no pages', async () => {
	const other = await remit.serve({ WEB: 'off', DATA_DIR: join(folder, 'other') })
	for (const path of ['/', '/app']) expect((await ask(path, {}, 'GET', other)).status).toBe(404)
	await other.end('SIGTERM')
})

it("The policy allows the style that React Aria adds on iOS, by the hash of the installed package's text", async () => {
	const components = realpathSync(join(import.meta.dirname, '../node_modules/react-aria-components'))
	const file = join(components, '../react-aria/dist/private/overlays/usePreventScroll.mjs')
	const [, style = ''] = /textContent = `([^`]+)`/.exec(readFileSync(file, 'utf8')) ?? []
	const hash = createHash('sha256').update(style.trim()).digest('base64')
	expect(String((await ask('/app')).headers['content-security-policy'])).toContain(`'sha256-${hash}'`)
})

it('The licences of the packages whose code a browser gets are beside the pages', async () => {
	const { status, headers, bytes } = await ask('/app/third-party.md')
	expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8'])
	for (const name of ['react-dom', '@tanstack/react-query', 'react-aria-components', 'openapi-fetch'])
		expect(String(bytes)).toContain(`## ${name} - `)
	expect(String(bytes)).toContain('Permission is hereby granted')
})
