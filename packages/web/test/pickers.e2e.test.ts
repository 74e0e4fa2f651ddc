// A field with a list of the server's records is usable before the code of its list has come.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

const code = /\/combo-box-list-[^/]*\.js$/

needs('chromium').describe('pickers', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
		await app.client.companies.create({ name: 'Zebra Works' })
		// The list begins with the newest.
		await app.client.companies.create({ name: 'Quasar Holz' })
		await app.client.companies.create({ name: 'Quasar Bau' })
		await app.client.contacts.create({ name: 'Ruth Quasar' })
		await app.client.deals.create({ name: 'Quasar roof' })
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

	/** The client field of a new invoice for Zebra Works, with its list open and the name selected. */
	async function invoiceOfZebra() {
		const { data } = await app.client.companies.list({ search: 'Zebra Works' })
		const { page } = await app.openApp(`/invoices/new?company=${data[0]?.id}`)
		await expect.poll(() => client(page).inputValue()).toBe('Zebra Works')
		await client(page).selectText()
		// Before its list has come, Enter chooses nothing.
		await expect.poll(() => client(page).getAttribute('aria-expanded')).toBe('true')
		return page
	}
	const search = /\/api\/companies\?.*search=/
	/** The option that the field says is active. */
	const active = async (page: Page, name: string) => {
		const id = await page.getByRole('option', { name }).getAttribute('id')
		await expect.poll(() => client(page).getAttribute('aria-activedescendant')).toBe(id)
	}

	for (const keys of [['Enter'], ['ArrowDown', 'Enter'], ['Tab']])
		it(`${keys.join(' and ')} takes the first match in place of the client before`, async () => {
			const page = await invoiceOfZebra()
			await page.keyboard.type('Quasar')
			await active(page, 'Quasar Bau')
			for (const key of keys) await page.keyboard.press(key)
			await expect.poll(() => client(page).inputValue()).toBe('Quasar Bau')
			expect(await client(page).getAttribute('aria-expanded')).toBe('false')
			await page.getByRole('button', { name: 'Save draft' }).click()
			await page.getByRole('link', { name: 'Quasar Bau' }).first().waitFor()
		})

	for (const keys of [[], ['ArrowDown', 'ArrowDown']])
		it(`Ctrl S saves the ${keys.length > 0 ? 'active' : 'first'} match, not the client before`, async () => {
			const page = await invoiceOfZebra()
			await page.keyboard.type('Quasar')
			await active(page, 'Quasar Bau')
			for (const key of keys) await page.keyboard.press(key)
			const name = keys.length > 0 ? 'Quasar Holz' : 'Quasar Bau'
			await active(page, name)
			await page.keyboard.press('Control+s')
			await page.getByRole('link', { name }).first().waitFor()
		})

	it('Ctrl S saves nothing, and says so, before the answer, where nothing is called that, and where a client is to be made', async () => {
		const page = await invoiceOfZebra()
		const writes: string[] = []
		page.on('request', (request) => request.method() === 'POST' && writes.push(new URL(request.url()).pathname))
		const refused = page.getByText('Not saved: Client is not chosen yet')
		const dismiss = async () => {
			await refused.waitFor()
			await page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Close' }).click()
			await refused.waitFor({ state: 'detached' })
			await client(page).selectText()
		}
		const held = Promise.withResolvers<void>()
		await page.route(search, (route) => held.promise.then(() => route.continue()))
		await page.keyboard.type('Quasar H')
		await page.keyboard.press('Control+s')
		held.resolve()
		await expect.poll(() => client(page).inputValue()).toBe('Quasar Holz')
		await dismiss()
		await page.keyboard.type('Nobody at all')
		await page.getByRole('option', { name: 'Create “Nobody at all”' }).waitFor()
		await page.keyboard.press('Control+s')
		await page.getByRole('dialog', { name: 'New client' }).waitFor()
		await refused.waitFor()
		expect(writes.filter((path) => path === '/api/invoices')).toEqual([])
	})

	it('ArrowDown goes on from the first match', async () => {
		const page = await invoiceOfZebra()
		await page.keyboard.type('Quasar')
		await active(page, 'Quasar Bau')
		await page.keyboard.press('ArrowDown')
		await page.keyboard.press('ArrowDown')
		await active(page, 'Quasar Holz')
		await page.keyboard.press('Enter')
		await expect.poll(() => client(page).inputValue()).toBe('Quasar Holz')
	})

	for (const key of ['Enter', 'Tab'])
		it(`${key} before the answer takes what is found for the text, not what was found before`, async () => {
			const page = await invoiceOfZebra()
			await page.keyboard.type('Ze')
			await active(page, 'Zebra Works')
			const held = Promise.withResolvers<void>()
			await page.route(search, (route) => held.promise.then(() => route.continue()))
			await client(page).selectText()
			await page.keyboard.type('Quasar H')
			await page.keyboard.press(key)
			held.resolve()
			await expect.poll(() => client(page).inputValue()).toBe('Quasar Holz')
		})

	it('a text that nothing is called is refused by Enter, and left with the client as it was', async () => {
		const { page } = await app.openApp('/time')
		await page.getByRole('combobox', { name: 'Deal' }).click()
		await page.keyboard.type('Qqqq')
		await page.getByText('No match').waitFor()
		await page.keyboard.press('Enter')
		expect(await page.getByRole('combobox', { name: 'Deal' }).inputValue()).toBe('Qqqq')
		await page.keyboard.press('Tab')
		await expect.poll(() => page.getByRole('combobox', { name: 'Deal' }).inputValue()).toBe('')
	})

	it('what is typed stays when the page scrolls, and goes when the field is left by a press elsewhere', async () => {
		const page = await invoiceOfZebra()
		await page.keyboard.type('Qua')
		await active(page, 'Quasar Bau')
		await page.evaluate('document.dispatchEvent(new Event("scroll"))')
		await page.keyboard.type('sar')
		await active(page, 'Quasar Bau')
		expect(await client(page).inputValue()).toBe('Quasar')
		await page.locator('h1').click()
		await expect.poll(() => client(page).inputValue()).toBe('Zebra Works')
	})

	it('Escape leaves the client as it was, with the list closed', async () => {
		const page = await invoiceOfZebra()
		await page.keyboard.type('Quasar')
		await active(page, 'Quasar Bau')
		await page.keyboard.press('Escape')
		await expect.poll(() => client(page).inputValue()).toBe('Zebra Works')
		await expect.poll(() => client(page).getAttribute('aria-expanded')).toBe('false')
	})

	for (const key of ['Enter', 'Tab'])
		it(`${key} on a name that is not there makes the client, and the number is next`, async () => {
			const page = await invoiceOfZebra()
			await page.keyboard.type(`Nobody ${key}`)
			await page.keyboard.press(key)
			const dialog = page.getByRole('dialog', { name: 'New client' })
			expect(await dialog.getByLabel('Name').inputValue()).toBe(`Nobody ${key}`)
			await dialog.getByRole('button', { name: 'Create client' }).click()
			await expect.poll(() => client(page).inputValue()).toBe(`Nobody ${key}`)
			await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('invoiceNumber')
		})

	it('deals and contacts are chosen alike', async () => {
		const { page } = await app.openApp('/time')
		await page.getByRole('combobox', { name: 'Deal' }).click()
		await page.keyboard.type('Quasar')
		await page.keyboard.press('Tab')
		await expect.poll(() => page.getByRole('combobox', { name: 'Deal' }).inputValue()).toBe('Quasar roof')
		await page.goto(`${app.url}/app/deals/new`)
		await page.getByRole('combobox', { name: 'Contact' }).click()
		await page.keyboard.type('Quasar')
		await page.keyboard.press('Enter')
		await expect.poll(() => page.getByRole('combobox', { name: 'Contact' }).inputValue()).toBe('Ruth Quasar')
	})
})
