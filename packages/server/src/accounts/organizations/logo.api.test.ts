// The logo and the colour of an organization: what may be one, where they show, and that sent invoices keep theirs.
import { hash } from 'node:crypto'
import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { png, svg } from '../../../test/images.ts'
import { type MailServer, startMailServer } from '../../../test/mail-server.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
let mail: MailServer
let tenant: Tenant
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example' })
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const path = '/api/organization/logo'
const red = png(40, 10, [200, 0, 0])
const green = png(30, 30, [0, 120, 0])
const put = (bytes: Buffer) => tenant.ask('PUT', path, { body: { data: bytes.toString('base64') } })
const read = async () => (await tenant.ask('GET', path)).body
const page = async (url: string) => {
	const answer = await fetch(url, { headers: { purpose: 'prefetch' } })
	return { text: await answer.text(), policy: answer.headers.get('content-security-policy') ?? '' }
}

/** Seven clip paths of 20 shapes, each clipped by the next clip path: 20^7 shapes. */
const clipped = (attribute: string) =>
	[1, 2, 3, 4, 5, 6, 7]
		.map((level) => `<clipPath id="c${level}">${`<rect width="9" height="9" ${attribute}${level + 1})"/>`.repeat(20)}</clipPath>`)
		.join('')
		.concat(`<rect width="9" height="9" ${attribute}1)"/>`)
const copied = [1, 2, 3, 4]
	.map((level) => `<g id="g${level}">${`<rect clip-path="url(#c${level + 1})"/>`.repeat(50)}</g>`)
	.concat([1, 2, 3, 4].map((level) => `<clipPath id="c${level}"><use href="#g${level}"/></clipPath>`))
	.join('')

const bytesOf = query<{ organizationId: string }, { sha256: string }>((knex, key) => knex('logos').where(key).select('sha256'))
const stored = async () => (await server.db.all(bytesOf, { organizationId: tenant.organizationId })).map(({ sha256 }) => sha256)

/** How many images the first page of a PDF paints. */
async function imagesIn(pdf: Uint8Array): Promise<number> {
	const { OPS } = await getResolvedPDFJS()
	const document = await getDocumentProxy(new Uint8Array(pdf))
	const { fnArray } = await (await document.getPage(1)).getOperatorList()
	return fnArray.filter((operator) => operator === OPS.paintImageXObject).length
}

describe('a logo', () => {
	it('is known by its content, is read as it was written, and replaces the one before', async () => {
		expect(await read()).toEqual({ data: { logo: null, data: null } })
		expect((await put(red)).body).toEqual({ ok: true })
		const logo = { sha256: hash('sha256', red), format: 'png', width: 40, height: 10, size: red.length }
		expect(await tenant.remit.organization.get()).toMatchObject({ logo, version: 2 })
		expect((await read()).data).toEqual({ logo, data: red.toString('base64') })
		await put(svg('<rect width="9" height="9" fill="url(#a)"/>', 'viewBox="0 0 300 100"'))
		expect((await read()).data).toMatchObject({ logo: { format: 'svg', width: 300, height: 100 } })
		expect(await stored()).toHaveLength(1)
		expect((await tenant.ask('DELETE', path)).body).toEqual({ ok: true })
		expect((await tenant.ask('DELETE', path)).body).toEqual({ ok: true })
		expect([(await tenant.remit.organization.get()).logo, await stored()]).toEqual([null, []])
	})

	it.each<[string, Buffer, RegExp]>([
		['text', Buffer.from('hello'), /PNG/],
		['a GIF', Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64'), /PNG/],
		['a PNG without an image', red.subarray(0, 40), /PDF cannot show/],
		['a huge PNG', png(4001, 1, [0, 0, 0]), /4001 × 1 pixels/],
		['a PNG whose colour profile unpacks to 5 MB', png(9, 9, [0, 0, 0], 5_000_000), /colour profile/],
		['a PNG of two colour profiles', png(9, 9, [0, 0, 0], 100, 100), /colour profile/],
		['an SVG with a script', svg('<script>alert(1)</script>'), /<script>/],
		['an SVG with a handler', svg('<rect onclick="alert(1)"/>'), /event handler/],
		['an SVG with HTML', svg('<foreignObject><p/></foreignObject>'), /<foreignObject>/],
		['an SVG with an image', svg('<image href="data:image/png;base64,"/>'), /<image>/],
		['an SVG that loads', svg('<use xlink:href="https://evil.example/#a"/>'), /outside/],
		['an SVG with a loading style', svg('<style>@import url(//evil.example)</style>'), /style/],
		['an SVG with a loading fill', svg('<rect fill="url( https://evil.example/#a)"/>'), /outside/],
		['an SVG with an entity', Buffer.from(`<!DOCTYPE svg [<!ENTITY a "b">]>${svg('&a;')}`), /DOCTYPE/],
		['an SVG that animates', svg('<a><animate attributeName="href"/></a>'), /<a>/],
		['an SVG of many copies', svg('<use href="#a"/>'.repeat(13)), /more than/],
		['an SVG with a blur', svg('<rect style="filter:blur(40px)"/>'.repeat(300)), /filter/],
		['an SVG with a filter', svg('<rect filter="blur(40px)"/>'), /filter/],
		['an SVG with a mask', svg('<rect mask="url(#a)"/>'), /mask/],
		['an SVG whose style sheet blurs', svg('<style>*{-webkit-filter/**/:blur(9px)}</style>'), /filter/],
		['an SVG of nested clip paths', svg(clipped('clip-path="url(#c')), /more than 20000/],
		['an SVG of clip paths nested by style', svg(clipped('style="fill:red;clip-path: url(#c')), /more than 20000/],
		['an SVG that is clipped by itself', svg('<clipPath id="a"><rect clip-path="url(#a)"/></clipPath>'), /more than 20000/],
		['an SVG of clip paths within copies', svg(copied), /more than 20000/],
		['an SVG of inherited clip paths', svg('<g clip-path="url(#a)"><rect clip-path="inherit"/></g>'), /clip-path/],
		['an SVG whose style sheet clips', svg('<style>rect{clip-path:url(#a)}</style>'), /clip-path/],
		['an SVG with an element in its style', svg('<style><title/>@import url(//x);</style>'), /within <style>/],
		['an SVG with a style in pieces', svg('<style>rect{fill:ur<!-- -->l(//x)}</style>'), /outside/],
		['an SVG with a style in CDATA', svg('<style>rect{fill:ur<![CDATA[l(//x)]]>}</style>'), /outside/],
		['an SVG that is no XML', svg('<g>'), /XML/],
	])('is refused when it is %s', async (_, bytes, detail) => {
		expect(await put(bytes)).toMatchObject({ status: 422, body: { code: 'invalid_logo', detail: expect.stringMatching(detail) } })
	})

	it('may be an SVG with clip paths and copies, as drawing programs save them', async () => {
		const defs =
			'<defs><rect id="r" width="9" height="9"/></defs><clipPath id="c"><use xlink:href="#r" style="overflow:visible"/></clipPath>'
		const shapes =
			'<g clip-path="url(#c)"><path class="a" d="M0 0h9v9z"/></g><path style="clip-path:url(#c);fill:red" d="M0 0h9v9z"/>'
		expect((await put(svg(`<style>.a{fill:#123456}</style>${defs}${shapes}`))).status).toBe(200)
		expect((await put(svg('<g>'.repeat(900) + '</g>'.repeat(900)))).status).toBe(200)
	})

	it('may be a PNG with a colour profile, as printers save them', async () => {
		expect((await put(png(9, 9, [0, 0, 0], 2_000_000))).status).toBe(200)
	})

	it('may have 1 MiB, which is more than other bodies have', async () => {
		expect((await put(Buffer.alloc(1024 * 1024 + 2))).status).toBe(422)
		expect((await put(Buffer.concat([red, Buffer.alloc(1024 * 1024 - red.length)]))).status).toBe(200)
		const answer = await tenant.ask('PUT', path, { body: { data: 'A'.repeat(1_600_000) } })
		expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
	})
})

it('a colour that cannot be read on white is refused, with its contrast', async () => {
	const set = (accentColor: string) => tenant.ask('PATCH', '/api/organization', { body: { accentColor } })
	expect(await set('#ffcc00')).toMatchObject({
		status: 422,
		body: { code: 'low_contrast', detail: expect.stringContaining('1.51:1'), errors: [{ pointer: '/accentColor' }] },
	})
	expect([(await set('#777777')).status, (await set('#767676')).status, (await set('red')).status]).toEqual([422, 200, 400])
})

it('both show on page, PDF and mail of a sent invoice, and stay there whatever becomes of the settings', async () => {
	await put(red)
	await tenant.remit.organization.update({ accentColor: '#0f5c4d' })
	const { id } = await tenant.remit.invoices.create({ totalCents: 100, currency: 'EUR' })
	const { url } = await tenant.remit.invoices.clientLink.create(id)
	await tenant.remit.invoices.send(id, { to: 'ada@acme.example' })
	const { email } = mail.received.pop() as MailServer['received'][number]
	expect(email.html).toContain('background-color:#0f5c4d')
	expect(email.html).toContain('src="cid:logo@remit"')
	expect(email.attachments.map(({ mimeType, disposition, contentId }) => [mimeType, disposition, contentId ?? null])).toEqual([
		['image/png', 'inline', '<logo@remit>'],
		['application/pdf', 'attachment', null],
	])
	const before = { page: await page(url), pdf: Buffer.from(await tenant.remit.invoices.pdf(id)) }
	expect(before.page.text).toContain(`<img class="logo" src="data:image/png;base64,${red.toString('base64')}"`)
	const [, accent = ''] = /<style>(:root\{--accent:#0f5c4d;[^<]*)<\/style>/.exec(before.page.text) ?? []
	expect(before.page.policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+' 'sha256-[^']+'; img-src data:;/)
	expect(before.page.policy).toContain(hash('sha256', accent, 'base64'))
	expect(await imagesIn(before.pdf)).toBe(1)

	const branding = { logo: { sha256: hash('sha256', red) }, accentColor: '#0f5c4d' }
	expect((await tenant.remit.invoices.get(id)).branding).toMatchObject(branding)
	await put(green)
	await tenant.remit.organization.update({ accentColor: null })
	expect(await stored()).toHaveLength(2)
	await tenant.ask('DELETE', path)
	expect(await stored()).toEqual([hash('sha256', red)])
	expect({ page: await page(url), pdf: Buffer.from(await tenant.remit.invoices.pdf(id)) }).toEqual(before)
	await tenant.remit.invoices.update(id, { notes: 'Thanks', language: 'de' })
	expect((await tenant.remit.invoices.get(id)).branding).toMatchObject(branding)
	expect(await imagesIn(await tenant.remit.invoices.pdf(id))).toBe(1)
	await tenant.remit.invoices.update(id, { status: 'draft' })
	expect((await tenant.remit.invoices.get(id)).branding).toBeNull()
	expect(await imagesIn(await tenant.remit.invoices.pdf(id))).toBe(0)
})

it('an SVG is on the page and the PDF; mails leave it out, since most programs do not show it', async () => {
	expect((await put(svg('<rect width="120" height="40" fill="#0f5c4d"/>'))).status).toBe(200)
	const { id } = await tenant.remit.invoices.create({ totalCents: 100 })
	const { url } = await tenant.remit.invoices.clientLink.create(id)
	await tenant.remit.invoices.send(id, { to: 'ada@acme.example' })
	const { email } = mail.received.pop() as MailServer['received'][number]
	expect([email.attachments.length, email.html?.includes('<img')]).toEqual([1, false])
	expect((await page(url)).text).toContain('src="data:image/svg+xml;base64,')
})
