// The first hour of a server on which nothing is yet.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, password, startApp } from './app.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

needs('chromium').describe('an empty server', () => {
	let app: App
	let page: Page
	beforeAll(async () => {
		app = await startApp({}, [])
		const setup = `/setup#${app.setupUrl.split('#')[1]}`
		;({ page } = await app.openApp(setup, { person: null, timezoneId: 'Europe/Lisbon' }))
	})
	afterAll(() => app?.close())

	it('has the time zone of whoever sets it up', async () => {
		await field(page, 'Organization').fill('Harbour Studio')
		await field(page, 'Your name').fill('Nina Berg')
		await field(page, 'E-mail').fill('nina@harbour.example')
		await field(page, 'Password').fill(password)
		await press(page, 'Set up')
		await heading(page, 'Dashboard')
		await page.getByText('0 of 4 done').waitFor()
		await page.goto(`${app.url}/app/settings/organization`)
		await expect.poll(() => field(page, 'Time zone').inputValue()).toBe('Europe/Lisbon')
	})

	it.each([
		['/invoices', 'New invoice'],
		['/deals', 'New deal'],
		['/time', 'Add time'],
		['/companies', 'New company'],
		['/contacts', 'New contact'],
		['/tax-rates', 'New tax rate'],
		['/syncs', 'Connect a provider'],
		['/mappings', 'New mapping'],
		['/webhooks', 'New endpoint'],
	])('says at %s what will be there, and offers “%s”', async (path, action) => {
		await page.goto(`${app.url}/app${path}`)
		const empty = page.locator('.empty')
		await empty.locator('p').waitFor()
		await empty.getByRole('link', { name: action, exact: true }).waitFor()
	})

	it('leads from a new sync to the connection that it needs', async () => {
		await page.goto(`${app.url}/app/syncs/new`)
		await page.getByText('A sync needs a connection').waitFor()
		await page.locator('#page').getByRole('link', { name: 'Connect a provider' }).click()
		await heading(page, 'Connections')
	})

	it('offers the first tax rate first, on each new line', async () => {
		await page.goto(`${app.url}/app/tax-rates/new`)
		await field(page, 'Name').fill('Standard')
		await field(page, 'Percent').fill('19')
		await press(page, 'Create tax rate')
		await page
			.getByRole('row', { name: /Standard/ })
			.getByText('Default')
			.waitFor()
		// From the list, whose rates the browser has already.
		await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Invoices' }).click()
		await page.getByRole('link', { name: 'New invoice' }).first().click()
		await heading(page, 'New invoice')
		await expect.poll(() => page.getByLabel('Tax').locator('option:checked').textContent()).toBe('Standard 19 %')
		await page.goto(`${app.url}/app/tax-rates/new`)
		await field(page, 'Name').waitFor()
		expect(await page.getByRole('checkbox', { name: 'Offer it first' }).isChecked()).toBe(false)
	})
})
