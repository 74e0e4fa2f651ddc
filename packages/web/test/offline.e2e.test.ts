// Files of the application that cannot be had: a part of it that was not loaded before, without a connection or after an upgrade.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import type { BuiltPages } from '../build.ts'
import { type App, startApp } from './app.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const place = (page: Page, name: string) =>
	page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

const builtPages = join(import.meta.dirname, '../dist/pages.json')
const allScripts = (JSON.parse(readFileSync(builtPages, 'utf8')) as BuiltPages).files.filter((file) => file.endsWith('.js'))

needs('chromium').describe('a part that was not loaded before', () => {
	let app: App
	let invoice: string
	let number: string
	beforeAll(async () => {
		app = await startApp()
		const { id, invoiceNumber } = await app.client.invoices.create({ totalCents: 50_000, currency: 'EUR', notes: 'As agreed' })
		;[invoice, number] = [id, invoiceNumber]
	})
	afterAll(() => app?.close())

	/** Opens an address in a browser that cannot load these files, whose names begin so, as long as they are not let through. */
	async function openWithout(names: string, path: string) {
		const { page } = await app.openApp('/settings/account')
		let how = (route: Route) => route.abort('internetdisconnected')
		await page.route(new RegExp(`/app/assets/(${names})-[^/]+\\.js$`), (route) => how(route))
		await page.goto(`${app.url}/app${path}`)
		await page.getByRole('heading', { level: 1 }).waitFor()
		return { page, answer: (by: typeof how) => (how = by) }
	}
	/** From the next address on, as a browser whose person saves data: nothing is loaded before it is needed. */
	const saveData = (page: Page) =>
		page.addInitScript('Object.defineProperty(Navigator.prototype, "connection", { get: () => ({ saveData: true }) })')
	const through = (route: Route) => route.fallback()
	const gone = (route: Route) => route.fulfill({ status: 404, body: '' })

	it('leaves the places and what was seen, without a connection, and comes by itself when it is back', async () => {
		const { page, answer } = await openWithout('week-page', '/companies')
		await page.getByRole('link', { name: 'Acme GmbH' }).waitFor()
		await page.context().setOffline(true)
		await place(page, 'Time').click()
		await page.getByText('This part cannot be loaded now').waitFor()
		await place(page, 'Companies').click()
		await page.getByRole('link', { name: 'Acme GmbH' }).waitFor()
		await place(page, 'Time').click()
		await page.getByText('This part cannot be loaded now').waitFor()
		answer(through)
		await page.context().setOffline(false)
		await heading(page, 'Time')
	})

	it('tries again when it is told to, as a page', async () => {
		const { page, answer } = await openWithout('week-page', '/companies')
		await place(page, 'Time').click()
		// The page is loaded anew, since some browsers keep that a file was not to be had.
		const loaded = page.waitForEvent('load')
		await button(page, 'Try again').click()
		await loaded
		await button(page, 'Try again').waitFor()
		answer(through)
		await button(page, 'Try again').click()
		await heading(page, 'Time')
	})

	it('tries again when it is told to, as a dialog over its page', async () => {
		const { page, answer } = await openWithout('send-dialog', `/invoices/${invoice}`)
		await button(page, 'Send').click()
		const dialog = page.getByRole('dialog')
		await dialog.getByText('This part cannot be loaded now').waitFor()
		await heading(page, number)
		await dialog.getByRole('button', { name: 'Close' }).click()
		await dialog.waitFor({ state: 'detached' })
		await button(page, 'Send').click()
		answer(through)
		await dialog.getByRole('button', { name: 'Try again' }).click()
		await page.getByRole('dialog', { name: `Send ${number}` }).waitFor()
		await page.keyboard.press('Escape')
		await dialog.waitFor({ state: 'detached' })
		await expect.poll(() => page.evaluate('document.activeElement?.textContent'), { timeout: 15_000 }).toBe('Send')
	})

	it('tries again when it is told to, as the list of a menu', async () => {
		const { page, answer } = await openWithout('menu-list', `/invoices/${invoice}`)
		await button(page, 'More').click()
		await page.getByText('This part cannot be loaded now').waitFor()
		answer(through)
		await button(page, 'Try again').click()
		await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
	})

	it('is asked for again in another place while the first says that it is missing', async () => {
		for (const name of ['Lacks here', 'Lacks there']) await app.client.deals.create({ name })
		const { page, answer } = await openWithout('menu-list', '/deals?search=lacks')
		await saveData(page)
		await page.reload()
		await button(page, 'Move Lacks here to').click()
		await page.getByText('This part cannot be loaded now').waitFor()
		answer(through)
		await button(page, 'Move Lacks there to').press('ArrowDown')
		await page.getByRole('menuitem', { name: 'Won' }).waitFor()
	})

	it('comes in its place when the browser fetches it meanwhile', async () => {
		const { page, answer } = await openWithout('week-page', '/companies')
		await page.clock.install()
		await page.reload()
		await place(page, 'Time').click()
		await page.getByText('This part cannot be loaded now').waitFor()
		answer(through)
		await page.clock.runFor(20_000)
		await heading(page, 'Time')
	})

	it('takes nothing of what was typed', async () => {
		const { page, answer } = await openWithout('confirm-dialog', `/invoices/${invoice}/edit`)
		await page.getByLabel('Notes', { exact: true }).fill('Changed')
		await place(page, 'Companies').click()
		await page.getByRole('dialog').getByText('This part cannot be loaded now').waitFor()
		await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
		expect(await page.getByLabel('Notes', { exact: true }).inputValue()).toBe('Changed')
		answer(through)
		await place(page, 'Companies').click()
		await button(page, 'Discard changes').click()
		await heading(page, 'Companies')
	})

	/** As after an upgrade: the files of this version are gone, and the page is of another one. */
	const upgrade = (page: Page) =>
		page.route(`${app.url}/app`, async (route) => {
			const answer = await route.fetch()
			await route.fulfill({ response: answer, body: (await answer.text()).replaceAll('/assets/index-', '/assets/next-') })
		})

	it('is loaded with the new version after an upgrade, as a page', async () => {
		const { page, answer } = await openWithout('week-page', '/companies')
		answer(gone)
		await upgrade(page)
		const document = page.waitForRequest((request) => request.isNavigationRequest())
		await place(page, 'Time').click()
		expect((await document).url()).toBe(`${app.url}/app/time`)
		// Once: it never goes round in circles.
		await page.getByText('There is a new version of Remit').waitFor()
	})

	it('says that there is a new version after an upgrade, as a dialog, and loads it when it is told to', async () => {
		const { page, answer } = await openWithout('send-dialog', `/invoices/${invoice}`)
		answer(gone)
		await upgrade(page)
		await button(page, 'Send').click()
		await page.getByRole('dialog').getByText('There is a new version of Remit').waitFor()
		const document = page.waitForRequest((request) => request.isNavigationRequest())
		answer(through)
		await button(page, 'Load the new version').click()
		await document
		await page.getByRole('dialog', { name: `Send ${number}` }).waitFor()
	})

	it('is loaded when the browser has nothing else to do, and says what its data waits for', { timeout: 90_000 }, async () => {
		const { page } = await app.openApp('/companies')
		const missing = async () => {
			const loaded: string[] = await page.evaluate('performance.getEntriesByType("resource").map(({ name }) => name)')
			return allScripts.filter((file) => !loaded.includes(`${app.url}/app/${file}`))
		}
		await expect.poll(missing, { timeout: 60_000, interval: 500 }).toEqual([])
		await page.context().setOffline(true)
		await place(page, 'Mappings').click()
		await heading(page, 'Mappings')
		const sentence = page.getByText('It comes when the connection is back')
		await sentence.waitFor()
		await page.context().setOffline(false)
		await sentence.waitFor({ state: 'detached' })
		await page.getByRole('main').getByRole('link').first().waitFor()
	})

	it('is not loaded before it is needed for whoever saves data', async () => {
		const { page } = await app.openApp('/settings/account')
		await saveData(page)
		await page.clock.install()
		await page.goto(`${app.url}/app/companies`)
		await page.getByRole('link', { name: 'Acme GmbH' }).waitFor()
		const asked: string[] = []
		page.on('request', (request) => asked.push(request.url()))
		await page.clock.runFor(20_000)
		await place(page, 'Time').click()
		await heading(page, 'Time')
		expect(asked.filter((url) => url.includes('list-page'))).toEqual([])
	})
})
