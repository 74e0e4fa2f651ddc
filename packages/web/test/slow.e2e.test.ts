// A slow network: whatever is pressed says so at once, and what a page needs is asked for together.
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { addresses, fill, outside, recordsOf } from './addresses.ts'
import { type App, startApp } from './app.ts'

const place = (page: Page, name: string) =>
	page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

needs('chromium').describe('on a slow network', () => {
	let app: App
	let ids: Readonly<Record<string, string>>
	beforeAll(async () => {
		app = await startApp()
		ids = await recordsOf(app)
	})
	afterAll(() => app?.close())

	/** Opens an address; the files whose names begin so are on their way until they are let through. */
	async function openWaiting(names: string, path: string) {
		const { page } = await app.openApp('/settings/account')
		const held: Route[] = []
		let isSlow = true
		await page.route(new RegExp(`/app/assets/(${names})-[^/]+\\.js$`), (route) =>
			isSlow ? void held.push(route) : route.continue(),
		)
		await page.goto(`${app.url}/app${path}`)
		await page.getByRole('heading', { level: 1 }).waitFor()
		return {
			page,
			async letThrough() {
				isSlow = false
				await Promise.all(held.map((route) => route.continue()))
			},
		}
	}

	it('a place that is pressed is marked, with a bar, and the page before it stays', async () => {
		const { page, letThrough } = await openWaiting('week-page', '/companies')
		await place(page, 'Time').click()
		await page.locator('html[data-opening]').waitFor()
		await page.locator('.place[data-opening]', { hasText: 'Time' }).waitFor()
		await heading(page, 'Companies')
		await letThrough()
		await heading(page, 'Time')
		await expect.poll(() => page.locator('[data-opening]').count(), { timeout: 15_000 }).toBe(0)
	})

	it('a key marks the place that it leads to', async () => {
		const { page, letThrough } = await openWaiting('week-page', '/companies')
		await page.keyboard.press('g')
		await page.keyboard.press('t')
		await page.locator('.place[data-opening]', { hasText: 'Time' }).waitFor()
		await letThrough()
		await heading(page, 'Time')
	})

	it('a row that is pressed is marked, and its record is asked for at once', async () => {
		const { page, letThrough } = await openWaiting('detail-page', '/companies')
		const asked = page.waitForRequest((request) => request.url().includes('/api/companies/cmp_'))
		await page.getByRole('link', { name: 'Acme GmbH' }).click()
		await page.locator('tr:has(a[data-opening])', { hasText: 'Acme GmbH' }).waitFor()
		await asked
		await letThrough()
		await heading(page, 'Acme GmbH')
	})

	it('a button that leads to another page is marked', async () => {
		const { page, letThrough } = await openWaiting('new-page', '/companies')
		await page.getByRole('link', { name: 'New company' }).click()
		await page.locator('.button[data-opening]', { hasText: 'New company' }).waitFor()
		await letThrough()
		await heading(page, 'New company')
	})

	it('a dialog is there at once, and can be left', async () => {
		const { id, invoiceNumber } = await app.client.invoices.create({ totalCents: 50_000 })
		const { page, letThrough } = await openWaiting('send-dialog', `/invoices/${id}`)
		const send = page.getByRole('button', { name: 'Send', exact: true })
		await send.click()
		const waiting = page.getByRole('dialog', { name: 'Loading' })
		await waiting.waitFor()
		await page.keyboard.press('Escape')
		await waiting.waitFor({ state: 'detached' })
		await expect.poll(() => page.evaluate('document.activeElement?.textContent'), { timeout: 15_000 }).toBe('Send')
		await send.click()
		await waiting.waitFor()
		await letThrough()
		await page.getByRole('dialog', { name: `Send ${invoiceNumber}` }).waitFor()
	})

	it('a menu is there at once, and can be left', async () => {
		const { page, letThrough } = await openWaiting('menu-list', `/companies/${ids.companies}`)
		const more = page.getByRole('button', { name: 'More', exact: true })
		await more.click()
		const waiting = page.locator('[popover]')
		await waiting.waitFor()
		await page.keyboard.press('Escape')
		await waiting.waitFor({ state: 'detached' })
		await more.click()
		await letThrough()
		await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
	})

	it('the board shows its columns before its deals, and before its own file', async () => {
		const { page, letThrough } = await openWaiting('board', '/deals')
		await page.locator('.board .lane').first().waitFor()
		await letThrough()
		await page.locator('.board .deal-card a').first().waitFor()
	})

	describe('what a page shows is asked for beside its file:', () => {
		let page: Page
		/** The scripts of every page. */
		const known = new Set<string>()
		let [files, answers]: (Route[] | undefined)[] = []
		const hold = (held: Route[] | undefined, route: Route) => (held ? void held.push(route) : route.continue())
		beforeAll(async () => {
			;({ page } = await app.openApp('/settings/account'))
			for (const url of await scriptsOf(page)) known.add(url)
			await page.route(/\/app\/assets\/.+\.js$/, (route) => hold(known.has(route.request().url()) ? undefined : files, route))
			await page.route(isOfPage, (route) => hold(answers, route))
			await page.addInitScript(`asked = []; const send = fetch
				fetch = (what, ...more) => (asked.push(String(what.url ?? what)), send(what, ...more))`)
		})
		/** Without what every page asks for, once the page has nothing else to do. */
		async function asked(): Promise<string[]> {
			const all: string[] = await page.evaluate('new Promise((tell) => requestIdleCallback(() => tell(asked)))')
			return all.filter((url) => isOfPage(new URL(url)))
		}

		const inside = addresses.filter((path) => !outside.includes(path))
		it.each(inside)('%s', async (path) => {
			const heldAnswers: Route[] = []
			;[files, answers] = [undefined, heldAnswers]
			await page.goto(`${app.url}/app${fill(path, ids)}`, { waitUntil: 'commit' })
			await page.getByRole('heading', { level: 1 }).waitFor()
			// Before any answer by which it could ask for more.
			const first = (await asked()).filter((url) => !url.includes(askedLater))
			answers = undefined
			await Promise.all(heldAnswers.map((route) => route.continue()))
			await expect.poll(() => page.locator('.skeleton').count(), { timeout: 15_000 }).toBe(0)
			// The page takes what was asked for, and does not ask once more.
			const all = await asked()
			expect(first.filter((url, at) => all.lastIndexOf(url) !== at)).toEqual([])
			;[files, answers] = [[], []]
			await page.reload({ waitUntil: 'commit' })
			await expect.poll(async () => without(first, await asked())).toEqual([])
		})
	})
})

/** By who is signed in and which day it is where they live. */
const askedLater = '/api/time-entries?'

const isOfPage = ({ pathname }: URL) => !/^\/(app|app\/.*|api\/session|api\/organization)$/.test(pathname)
const without = (urls: readonly string[], others: readonly string[]) => urls.filter((url) => !others.includes(url))

const scriptsOf = (page: Page): Promise<string[]> =>
	page.evaluate('performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.endsWith(".js"))')
