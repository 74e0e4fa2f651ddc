// A field with a list of the server's records is usable before the code of its list has come.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../../server/test/browser.ts'
import { type App, startApp } from './app.ts'

const code = /\/combo-box-list-[^/]*\.js$/

describe.skipIf(!hasBrowser)('pickers', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
		await app.client.companies.create({ name: 'Zebra Works' })
	})
	afterAll(() => app?.close())

	const client = (page: Page) => page.getByRole('combobox', { name: 'Client' })
	const zebra = (page: Page) => page.getByRole('option', { name: /^Zebra Works/ })
	/** Of the field that has the focus. */
	const caret = (page: Page) =>
		page.evaluate('[document.activeElement.value, document.activeElement.selectionStart, document.activeElement.selectionEnd]')

	/** A new invoice whose lists have not come; returns what lets them come. */
	async function newInvoice() {
		const { page, complaints } = await app.openApp('/')
		const held = Promise.withResolvers<void>()
		await page.route(code, (route) => held.promise.then(() => route.continue()))
		await page.goto(`${app.url}/app/invoices/new`)
		await client(page).waitFor()
		return { page, complaints, release: held.resolve }
	}

	it('what is typed before the list has come stays, with the caret, and Enter sends nothing', async () => {
		const { page, complaints, release } = await newInvoice()
		const asked = page.waitForRequest(code)
		await client(page).focus()
		await page.keyboard.type('zbra')
		for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowLeft')
		await page.keyboard.type('e')
		await page.keyboard.press('Enter')
		await asked
		expect(await client(page).getAttribute('aria-expanded')).toBe('false')
		release()
		await zebra(page).waitFor()
		expect(await caret(page)).toEqual(['zebra', 2, 2])
		await page.keyboard.press('ArrowDown')
		await page.keyboard.press('Enter')
		await expect.poll(() => client(page).inputValue()).toBe('Zebra Works')
		await page.getByRole('heading', { level: 1, name: 'New invoice' }).waitFor()
		expect(complaints).toEqual([])
	})

	it('whoever has gone on to another field stays there when the list comes', async () => {
		const { page, release } = await newInvoice()
		const before = await client(page).getAttribute('id')
		await client(page).focus()
		await page.keyboard.press('Tab')
		await page.keyboard.type('A-1')
		release()
		await expect.poll(() => client(page).getAttribute('id')).not.toBe(before)
		await page.keyboard.type('2')
		expect(await page.getByLabel('Number').inputValue()).toBe('A-12')
		expect(await client(page).getAttribute('aria-expanded')).toBe('false')
	})

	it('the list comes by itself once the page is quiet', async () => {
		const { page, release } = await newInvoice()
		const before = await client(page).getAttribute('id')
		release()
		await expect.poll(() => client(page).getAttribute('id'), { timeout: 15_000 }).not.toBe(before)
		await client(page).click()
		await page.keyboard.type('zebra')
		await zebra(page).click()
		await expect.poll(() => client(page).inputValue()).toBe('Zebra Works')
	})

	it('its button opens it, also before the list has come, and without a connection the next key asks again', async () => {
		const { page, release } = await newInvoice()
		release()
		await page.context().setOffline(true)
		const failed = page.waitForEvent('requestfailed', (request) => code.test(request.url()))
		await page.getByRole('button', { name: 'Show suggestions Client' }).click()
		await failed
		await page.keyboard.type('zeb')
		await page.context().setOffline(false)
		await page.keyboard.type('ra')
		await zebra(page).click()
		await expect.poll(() => client(page).inputValue()).toBe('Zebra Works')
	})
})
