// A client's whole way in Chromium, against the real server on SQLite: from the mail through the page and the test processor to
// the paid invoice.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import type { Browser, Page } from 'playwright-core'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchBrowser } from '../../../test/browser.ts'
import { needs } from '../../../test/needs.ts'
import { Remit, type Served } from '../../../test/remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-flow-'))
const remit = new Remit({ NODE_ENV: 'development', DATA_DIR: folder }, folder)

needs('chromium').describe('in a browser', () => {
	let browser: Browser
	let served: Served
	let client: Client
	beforeAll(async () => {
		served = await remit.serve({}, ['--demo'])
		client = new Client({ apiKey: served.key as string, baseUrl: served.url })
		browser = await launchBrowser()
	})
	afterAll(async () => {
		await browser?.close()
		await served?.end('SIGTERM')
		remit.stop()
		rmSync(folder, { recursive: true })
	})

	/** A page, and the console messages and failed requests of it and of the pages after it. */
	async function newPage(): Promise<{ page: Page; complaints: string[] }> {
		const page = await (await browser.newContext()).newPage()
		const complaints: string[] = []
		page.on('console', (message) => complaints.push(message.text()))
		page.on('requestfailed', (request) => complaints.push(request.url()))
		return { page, complaints }
	}

	/** A sent invoice for an hour of work, with its timesheet, and the link from its mail. */
	async function sent(): Promise<{ id: string; link: string }> {
		const { id: dealId } = await client.deals.create({ name: 'Web shop', currency: 'EUR', hourlyRateCents: 12_000 })
		const entry = { dealId, durationSeconds: 3_600, taskName: 'Checkout', startedAt: '2026-03-31T09:00:00Z' }
		const timeEntryIds = [(await client.timeEntries.create(entry)).id]
		const { id } = await client.invoices.createFromTimeEntries({ dealId, timeEntryIds, includeTimesheet: true })
		const { url } = await client.invoices.clientLink.create(id)
		await client.invoices.send(id, { to: 'ada@acme.example' })
		const mails = readdirSync(join(folder, 'mail')).sort()
		const { html = '' } = await PostalMime.parse(readFileSync(join(folder, 'mail', mails.at(-1) as string)))
		const link = /<a href="([^"]+)"[^>]*>View and pay online/.exec(html)?.[1] as string
		expect(link).toBe(url)
		return { id, link }
	}

	it('the client opens the link of the mail, pays, and sees that it is paid', async () => {
		const { id, link } = await sent()
		const { page, complaints } = await newPage()
		await page.goto(link)
		expect(await page.getByRole('row', { name: /Checkout.*1\.00/ }).count()).toBeGreaterThan(0)
		await page.getByRole('button', { name: /^Pay .*120\.00/ }).click()
		await page.waitForURL(/\/pay\/test\//)
		expect(await page.getByRole('heading').allTextContents()).toEqual(['Test payment – no money moves'])
		await page.getByRole('button', { name: /^Pay/ }).click()
		await page.waitForURL(`${link}/paid`)
		expect(await page.getByRole('heading').allTextContents()).toEqual(['Thank you for your payment'])
		await page.getByRole('link', { name: 'Back to the invoice' }).click()
		await page.waitForURL(link)
		expect(await page.getByText(/^Paid on/).count()).toBe(1)
		expect(await page.getByRole('button').count()).toBe(0)
		expect(complaints).toEqual([])
		expect(await client.invoices.get(id)).toMatchObject({ status: 'paid', paymentMethod: 'test', viewCount: 2 })
	})

	it('the client comes back without having paid', async () => {
		const { id, link } = await sent()
		const { page } = await newPage()
		await page.goto(link)
		await page.getByRole('button', { name: /^Pay/ }).click()
		await page.getByRole('link', { name: 'Back to the invoice' }).click()
		await page.waitForURL(link)
		expect(await page.getByRole('button', { name: /^Pay/ }).count()).toBe(1)
		expect((await client.invoices.get(id)).status).toBe('sent')
	})

	it('the client finds words, not data, behind a link that was revoked', async () => {
		const { id, link } = await sent()
		await client.invoices.clientLink.delete(id)
		const { page } = await newPage()
		expect((await page.goto(link))?.status()).toBe(404)
		expect(await page.getByRole('heading').allTextContents()).toEqual(['This link does not work any more'])
	})
})
