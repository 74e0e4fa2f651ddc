// The data that a client gets through an invoice's link: nothing internal, never cached, counted when a person looks at it, and
// not found by guessing.
import { once } from 'node:events'
import { get } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { type AskOptions, startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import type { InvoiceInput } from '../../../generated/contract.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import type { Database } from '../../../platform/db/database.ts'
import { countView, openLink } from './public-view.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
	tenant = await server.newTenant({ name: 'Northlight Studio', taxId: 'DE811907980' })
})
afterAll(() => server.close())

const create = async (invoice: InvoiceInput = { totalCents: 5_000 }) => (await tenant.remit.invoices.create(invoice)).id
const tokenOf = async (id: string) => (await tenant.remit.invoices.clientLink.create(id)).url.split('/').at(-1) as string
const view = (token: string, options: AskOptions = {}, method = 'GET') =>
	server.ask(method, `/api/invoices/public/${token}`, { key: null, ...options })
const read = async (id: string) => (await tenant.ask('GET', `/api/invoices/${id}`)).body.data

/** An invoice with every field set and with every kind of record that it can reference. */
async function full(): Promise<string> {
	const { id: companyId } = await tenant.remit.companies.create({ name: 'Acme GmbH', billingEmail: 'billing@acme.example' })
	const { id: taxRateId } = await tenant.remit.taxRates.create({ name: 'VAT', label: 'VAT', percent: '19' })
	const dealId = await tenant.newDeal({ companyId, hourlyRateCents: 9_000 })
	const timeEntryIds = [await tenant.newTimeEntry({ dealId, taskName: 'Checkout' })]
	const { id } = await tenant.remit.invoices.createFromTimeEntries({ dealId, timeEntryIds, taxRateId, includeTimesheet: true })
	const [line] = (await read(id)).lineItems
	await tenant.remit.invoices.update(id, {
		companyId,
		lineItems: [
			{ id: line.id },
			{ description: 'Workshop', quantity: '2', unit: 'day', unitPriceCents: 80_000, taxRateId, metadata: { cost: 'internal' } },
		],
		paymentReference: 'internal',
		status: 'sent',
	})
	return id
}

describe('the client', () => {
	it('sees the invoice as it is, and every field of it is either shown or kept back on purpose', async () => {
		const id = await full()
		const token = await tokenOf(id)
		const invoice = await read(id)
		const { data } = (await view(token)).body
		const { lineItems, pdfUrl, payUrl, ...shown } = data
		expect(invoice).toMatchObject(shown)
		expect(invoice.lineItems).toMatchObject(lineItems)
		expect({ pdfUrl, payUrl }).toEqual({
			pdfUrl: `${server.url}/api/invoices/public/${token}/pdf`,
			payUrl: `${server.url}/view/invoice/${token}`,
		})
		const keptBack = (all: object, part: object) =>
			Object.keys(all)
				.filter((field) => !(field in part))
				.sort()
		expect(keptBack(invoice, data)).toEqual(
			[
				...['id', 'organizationId', 'dealId', 'companyId', 'version', 'createdAt', 'updatedAt'],
				...['sentAt', 'viewedAt', 'viewCount', 'paymentMethod', 'paymentReference', 'paymentState', 'amountCreditedCents'],
				...[
					'showRateBreakdown',
					'includeTimesheet',
					'taxRounding',
					'timeRounding',
					'timeRoundingMinutes',
					'language',
					'branding',
					'locale',
					'timeZone',
				],
			].sort(),
		)
		expect(keptBack(invoice.lineItems[0], lineItems[0])).toEqual(
			['durationSeconds', 'id', 'metadata', 'taxRateId', 'timeEntryIds'].sort(),
		)
	})

	it('sees no id of a record, and nothing that was written for the organization only', async () => {
		const token = await tokenOf(await full())
		const text = (await view(token)).text.replaceAll(token, 'TOKEN')
		expect(text).not.toMatch(/(org|inv|dl|cmp|li|te|key|txr|usr|ct|evt|plk|pl)_[A-Za-z0-9_-]{6}/)
		expect(text).not.toContain('internal')
		expect(text).toContain('Northlight Studio')
	})

	it('can pay only what is due, where payments are taken', async () => {
		const payable = async (invoice: InvoiceInput) => (await view(await tokenOf(await create(invoice)))).body.data.payUrl !== null
		expect(await payable({ totalCents: 1 })).toBe(true)
		expect(await payable({ totalCents: 0 })).toBe(false)
		expect(await payable({ totalCents: -1 })).toBe(false)
		expect(await payable({ totalCents: 100, status: 'paid' })).toBe(false)
		expect(await payable({ totalCents: 100, status: 'cancelled' })).toBe(false)
		const other = await startTestServer({ ...server.settings, PAYMENT_PROCESSOR: 'none' })
		const token = await tokenOf(await create())
		expect((await other.ask('GET', `/api/invoices/public/${token}`, { key: null })).body.data.payUrl).toBeNull()
		await other.close()
	})
})

describe('an answer', () => {
	const secret = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' }

	it('forbids caches, search engines and referrers, whether there is an invoice or not', async () => {
		const token = await tokenOf(await create())
		for (const [asked, status] of [
			[token, 200],
			['unknown', 404],
			['x'.repeat(65), 400],
		] as const) {
			const answer = await view(asked)
			expect(answer.status).toBe(status)
			expect(Object.fromEntries(answer.headers)).toMatchObject(secret)
		}
	})

	it('is the same for a link that was revoked and one that never was', async () => {
		const id = await create()
		const token = await tokenOf(id)
		await tenant.remit.invoices.clientLink.delete(id)
		const never = 'A'.repeat(32)
		const [revoked, unknown] = await Promise.all(
			[token, never].map(async (asked) => {
				const { status, headers, text, body } = await view(asked)
				expect(headers.get('x-request-id')).toBe(body.requestId)
				const all = Object.fromEntries([...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)))
				return { status, headers: all, text: text.replace(asked, 'TOKEN').replace(body.requestId, 'REQUEST') }
			}),
		)
		expect(revoked).toEqual(unknown)
		expect(revoked?.status).toBe(404)
	})

	it('needs no key and asks for none', async () => {
		const token = await tokenOf(await create())
		const wrong = await view(token, { headers: { authorization: 'Bearer rmt_wrong' } })
		expect([wrong.status, (await view('unknown')).headers.get('www-authenticate')]).toEqual([200, null])
		expect((await view(token, {}, 'POST')).status).toBe(405)
	})
})

describe('a view', () => {
	it('is counted, and the first one records an event', async () => {
		const id = await create()
		const token = await tokenOf(id)
		// Later than what another server has stored.
		const now = Date.now()
		server.clock.now = now
		await view(token)
		server.clock.now += 1_000
		await view(token)
		expect(await read(id)).toMatchObject({ viewCount: 2, viewedAt: now })
		const viewed = (await eventsOf(server, tenant, id)).filter(({ type }) => type === 'invoice.viewed')
		expect(viewed).toMatchObject([
			{ actor: { type: 'client_link', id: null }, timestamp: now, data: { viewCount: 1, viewedAt: now } },
		])
	})

	it('is counted each time, and recorded as an event once, when many look at once', async () => {
		const id = await create()
		const token = await tokenOf(id)
		await Promise.all(Array.from({ length: 10 }, () => view(token)))
		expect((await read(id)).viewCount).toBe(10)
		expect((await eventsOf(server, tenant, id)).filter(({ type }) => type === 'invoice.viewed')).toHaveLength(1)
	})

	it('is stored together with those that come while others are stored', async () => {
		const id = await create()
		const token = await tokenOf(id)
		const link = await openLink(server.db, token)
		let transactions = 0
		const db: Database = {
			...server.db,
			transaction(...given) {
				transactions++
				return server.db.transaction(...given)
			},
		}
		const count = () => countView(db, link, bySystem(server.clock.now))
		const first = count()
		await nextTurn()
		await Promise.all([first, ...Array.from({ length: 20 }, count)])
		expect(transactions).toBe(2)
		await count()
		expect((await read(id)).viewCount).toBe(22)
		expect((await eventsOf(server, tenant, id)).filter(({ type }) => type === 'invoice.viewed')).toHaveLength(1)
	})

	it.each<readonly [string, object]>([
		['HEAD', {}],
		['GET', { 'sec-purpose': 'prefetch' }],
		['GET', { 'sec-purpose': 'prefetch;prerender' }],
		['GET', { purpose: 'prefetch' }],
		['GET', { 'x-moz': 'prefetch' }],
		...[
			'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
			'WhatsApp/2.23.20.0 A',
			'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
			'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
			'Twitterbot/1.0',
			'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
			'TelegramBot (like TwitterBot)',
			'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
			'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
			'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b',
			'Mozilla/5.0 (compatible; Outlook SafeLinks)',
			'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.22621.2506',
			'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
			'curl/8.5.0',
			'Wget/1.21.4',
			'okhttp/4.12.0',
			'python-requests/2.32.3',
			'Go-http-client/2.0',
			'Java/21.0.2',
			'Apache-HttpClient/5.3 (Java/21.0.2)',
			'node',
			'undici',
			'axios/1.7.9',
			'',
		].map((agent) => ['GET', { 'user-agent': agent }] as const),
	])('is none when nobody looks: %s with %j', async (method, headers) => {
		const id = await create()
		const answer = await view(await tokenOf(id), { headers: headers as unknown as Record<string, string> }, method)
		expect(answer.status).toBe(200)
		expect(await read(id)).toMatchObject({ viewCount: 0, viewedAt: null })
		expect((await eventsOf(server, tenant, id)).map(({ type }) => type)).toEqual(['invoice.created'])
	})

	it('is of a phone whose name ends like that of a program', async () => {
		const id = await create()
		const agent =
			'Mozilla/5.0 (Linux; Android 9; CUBOT X20 PRO) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'
		await view(await tokenOf(id), { headers: { 'user-agent': agent } })
		expect(await read(id)).toMatchObject({ viewCount: 1 })
	})

	it('is of a browser alone, where browsers say so: a scanner of mail has the name of one', async () => {
		const other = await startTestServer({ ...server.settings, BASE_URL: 'https://remit.example' })
		const id = await create()
		const path = `${other.url}/view/invoice/${await tokenOf(id)}`
		const agent =
			'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
		expect((await fetch(path, { headers: { 'user-agent': agent } })).status).toBe(200)
		expect(await read(id)).toMatchObject({ viewCount: 0, viewedAt: null })
		// fetch sets a mode of its own.
		const [answer] = await once(get(path, { headers: { 'user-agent': agent, 'sec-fetch-mode': 'navigate' } }), 'response')
		await once(answer.resume(), 'end')
		expect(await read(id)).toMatchObject({ viewCount: 1 })
		await other.close()
	})

	it("changes what a GET's ETag stands for, and not the version that If-Match asks for", async () => {
		const id = await create()
		const path = `/api/invoices/${id}`
		const before = (await tenant.ask('GET', path)).headers.get('etag') as string
		await view(await tokenOf(id))
		const after = (await tenant.ask('GET', path, { headers: { 'if-none-match': before } })) as Awaited<ReturnType<Tenant['ask']>>
		expect([after.status, after.body.data.version]).toEqual([200, 1])
		const tag = after.headers.get('etag') as string
		expect(tag).not.toBe(before)
		expect((await tenant.ask('GET', path, { headers: { 'if-none-match': tag } })).status).toBe(304)
		const patched = await tenant.ask('PATCH', path, { headers: { 'if-match': before }, body: { notes: 'Still mine' } })
		expect(patched.status).toBe(200)
		expect((await tenant.ask('PATCH', path, { headers: { 'if-match': tag }, body: {} })).status).toBe(412)
		const current = (await tenant.ask('GET', path)).headers.get('etag') as string
		expect((await tenant.ask('PATCH', path, { headers: { 'if-match': current }, body: {} })).status).toBe(200)
	})
})

describe('guessing', () => {
	it('ends after 30 misses in a minute, for data and pages alike, while every right link works on', async () => {
		const other = await startTestServer({ ...server.settings, GUESS_RATE_LIMIT: 30, TRUST_PROXY: 1 })
		const [token, another] = [await tokenOf(await create()), await tokenOf(await create())]
		const from = (address: string, asked: string) =>
			other.ask('GET', `/api/invoices/public/${asked}`, { key: null, headers: { 'x-forwarded-for': address } })
		const pageFrom = (address: string, asked: string) =>
			fetch(`${other.url}/view/invoice/${asked}`, { headers: { 'x-forwarded-for': address } })
		const [guesser, client] = ['203.0.113.7', '198.51.100.8']
		for (let guess = 0; guess < 15; guess++) {
			expect((await from(guesser, `guess${guess}`)).status).toBe(404)
			expect((await pageFrom(guesser, `guess${guess}`)).status).toBe(404)
		}
		for (const asked of ['guess', 'another', 'guess/pdf']) {
			const { status, headers, body } = await from(guesser, asked)
			expect([status, body.code]).toEqual([429, 'rate_limited'])
			expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
			expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
			expect(Object.fromEntries(headers)).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
		}
		const page = await pageFrom(guesser, 'guess')
		expect([page.status, await page.text()]).toEqual([429, expect.stringContaining('Too many requests')])
		expect((await from(client, 'guess')).status).toBe(404)
		// The proxy appends the real address after the one that the client claims, which the server ignores.
		expect((await from(`${client}, ${guesser}`, 'guess')).status).toBe(429)
		// Whoever shares the guesser's address goes on, also with a link that this server has not seen before.
		for (const asked of [token, `${token}/pdf`]) expect((await from(guesser, asked)).status).toBe(200)
		expect((await pageFrom(guesser, another)).status).toBe(200)
		await other.close()
	})
})
