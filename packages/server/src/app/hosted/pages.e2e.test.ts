// The hosted pages in Chromium, with their own headers.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { launchBrowser } from '../../../test/browser.ts'
import { arabicInvoice, hostileInvoice, japaneseInvoice } from '../../../test/difficult-documents.ts'
import { cancelledInvoice, openInvoice, overdueInvoice, paidInvoice } from '../../../test/documents.ts'
import { needs } from '../../../test/needs.ts'
import { invoicePage } from '../../billing/documents/pages/invoice-page.ts'
import type { InvoiceDocument } from '../../generated/contract.ts'
import { pageHeaders } from '../../platform/rendering/pages/headers.ts'
import { messagePage } from '../../platform/rendering/pages/message-page.ts'
import { wordsOf } from '../../platform/rendering/words/languages.ts'
import { connectPage } from './connect-page.ts'
import { testPaymentPage } from './test-payment-page.ts'

const view = (document: InvoiceDocument) => invoicePage({ document, pdfUrl: '/pdf', payUrl: '/pay' })
const pages: Record<string, string> = {
	open: view(openInvoice),
	overdue: view(overdueInvoice),
	german: view({ ...openInvoice, language: 'de', facts: [{ label: wordsOf('de').issued, value: '15.11.2026' }] }),
	paid: view(paidInvoice),
	cancelled: view(cancelledInvoice),
	arabic: view(arabicInvoice),
	japanese: view(japaneseInvoice),
	hostile: view({ ...hostileInvoice, lines: hostileInvoice.lines.slice(0, 20) }),
	long: view(hostileInvoice),
	message: messagePage('en', 'paymentReceived', { invoiceUrl: '/open' }),
	'connect-key': connectPage('en', {
		...{ organization: 'Northlight Studio', provider: 'HubSpot', host: 'api.hubapi.com', check: 'x' },
		...{ fields: ['username', 'password'], problem: { name: 'refused' } },
	}),
	'connect-oauth': connectPage('de', {
		...{ organization: 'Northlight & Sons '.repeat(5), provider: 'Xero', host: 'api.xero.com', check: 'x', fields: [] },
	}),
	'test-payment': testPaymentPage({
		language: 'en',
		amount: '€1,606.50',
		seller: 'Nordlicht Studio',
		number: 'INV-0042',
		payUrl: '/pay',
		cancelUrl: '/open',
	}),
}
const names = Object.keys(pages)
const [phone, desktop] = [
	{ width: 390, height: 844 },
	{ width: 1280, height: 800 },
]

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

needs('chromium').describe('in a browser', () => {
	let browser: Browser
	let server: Server
	let base: string
	let checkout: string | null = null
	let formTargets: string[] = []
	const posted: string[] = []

	beforeAll(async () => {
		server = createServer((req, res) => {
			const name = req.url?.slice(1) ?? ''
			if (req.method === 'POST') posted.push(name)
			if (req.method === 'POST' && checkout) res.writeHead(303, { Location: checkout }).end()
			else res.writeHead(200, pageHeaders(formTargets)).end(pages[name] ?? messagePage('en', 'paymentReceived'))
		})
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
		browser = await launchBrowser()
	})
	afterEach(async () => {
		checkout = null
		formTargets = []
		posted.length = 0
		await Promise.all(browser.contexts().map((context) => context.close()))
	})
	afterAll(async () => {
		await browser?.close()
		server?.close()
	})

	const open = async (name: string, options: BrowserContextOptions): Promise<Page> => {
		const page = await (await browser.newContext(options)).newPage()
		await page.goto(`${base}/${name}`)
		return page
	}

	// axe takes seconds for 500 lines, and finds no more in them than in 20.
	it.each(names.filter((name) => name !== 'long'))(
		'%s has no serious accessibility violation in any window or colour',
		async (name) => {
			const page = await open(name, { bypassCSP: true })
			await page.evaluate(axe)
			for (const [viewport, colorScheme] of [
				[phone, 'light'],
				[desktop, 'light'],
				[desktop, 'dark'],
			] as const) {
				await page.setViewportSize(viewport)
				await page.emulateMedia({ colorScheme })
				const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })')
				const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
				expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
			}
		},
	)

	it.each(names)('%s fits into the window of a phone and of a desktop', async (name) => {
		const page = await open(name, { viewport: phone })
		const width = () => page.evaluate('document.documentElement.scrollWidth')
		expect(await width()).toBe(phone.width)
		await page.setViewportSize(desktop)
		expect(await width()).toBe(desktop.width)
	})

	it.each(names)('%s breaks no rule of its Content-Security-Policy', async (name) => {
		const page = await (await browser.newContext()).newPage()
		const said: string[] = []
		page.on('console', (message) => said.push(message.text()))
		await page.goto(`${base}/${name}`)
		expect(await page.evaluate('getComputedStyle(document.querySelector(".card")).borderRadius')).toBe('14px')
		expect(said).toEqual([])
	})

	it.each(['open', 'test-payment'])('%s pays without scripts, with the keyboard alone', async (name) => {
		const page = await open(name, { javaScriptEnabled: false })
		await page.keyboard.press('Tab')
		await Promise.all([page.waitForURL(`${base}/pay`), page.keyboard.press('Enter')])
		expect(posted).toEqual(['pay'])
		expect(await page.title()).toBe('Thank you for your payment')
	})

	it('leads from the form to a payment processor only when the headers name it', async () => {
		const processor = base.replace('127.0.0.1', 'localhost')
		checkout = `${processor}/paid`
		const unnamed = await open('open', {})
		const [refusal] = await Promise.all([unnamed.waitForEvent('console'), unnamed.getByRole('button').click()])
		expect(refusal.text()).toContain('form-action')
		formTargets = [processor]
		const named = await open('open', {})
		await Promise.all([named.waitForURL(checkout), named.getByRole('button').click()])
	})

	it('remains a table for a screen reader on a phone', async () => {
		const page = await open('overdue', { viewport: phone })
		const table = page.getByRole('table', { name: 'Items' })
		expect(await table.getByRole('columnheader').allTextContents()).toEqual([
			'Description',
			'Quantity',
			'Unit price',
			'Discount',
			'Tax',
			'Amount',
		])
		expect(await table.getByRole('row').nth(1).getByRole('cell').allTextContents()).toEqual(
			Object.values(overdueInvoice.lines[0] ?? {}),
		)
	})

	it('puts the amount below the description on a phone', async () => {
		const page = await open('open', { viewport: phone })
		const [description, quantity, , amount] = await Promise.all(
			(await page.getByRole('row').nth(1).getByRole('cell').all()).map((cell) => cell.boundingBox()),
		)
		expect(description && quantity && description.y + description.height <= quantity.y).toBe(true)
		expect(amount?.y).toBe(quantity?.y)
	})

	it('breaks no amount, quantity or tax on a desktop, and says each thing once', async () => {
		const page = await open('overdue', { viewport: desktop })
		for (const cell of await page.locator('td.number bdi, .totals dd bdi').all()) {
			const { height = 0 } = (await cell.boundingBox()) ?? {}
			expect([await cell.textContent(), height < 30]).toEqual([await cell.textContent(), true])
		}
		const count = (text: string) => page.getByText(text, { exact: true }).filter({ visible: true }).count()
		expect(await Promise.all(['Invoice 2026-0107', 'Oct 31, 2026', '$1,679.20', 'Overdue'].map(count))).toEqual([1, 1, 1, 1])
		await page.goto(`${base}/open`)
		expect(await Promise.all(['Invoice INV-0042', '15 Dec 2026', 'Amount due'].map(count))).toEqual([1, 1, 0])
	})

	it('breaks no label of a fact that stands alone', async () => {
		const page = await open('german', { viewport: desktop })
		expect((await page.getByText('Rechnungsdatum').boundingBox())?.height).toBeLessThan(30)
	})

	it('prints the invoice without what is only for the screen, and a status only when the invoice is closed', async () => {
		const printed = async (name: string, texts: string[]) => {
			const page = await open(name, { viewport: desktop })
			await page.emulateMedia({ media: 'print' })
			const counts = texts.map((text) => page.getByText(text, { exact: true }).filter({ visible: true }).count())
			return Promise.all(counts)
		}
		expect(await printed('open', ['Invoice INV-0042', 'Pay €1,606.50', 'Download PDF', 'Open'])).toEqual([1, 0, 0, 0])
		expect(await printed('cancelled', ['Invoice INV-0039', 'Download PDF', 'Cancelled'])).toEqual([1, 0, 1])
	})

	it('prints black on white, in the dark too', async () => {
		const page = await open('open', { colorScheme: 'dark' })
		await page.emulateMedia({ media: 'print' })
		const colours = await page.evaluate(
			'(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))',
		)
		expect(colours).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
	})
})
