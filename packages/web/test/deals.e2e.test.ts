// A person's way through the dashboard and deals: from a card on the board to the draft of an invoice.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, password, startApp } from './app.ts'

needs('chromium').describe('the dashboard and deals', () => {
	let app: App
	/** The first person of an organization without any record. */
	let beginner: { email: string; name: string; token: string }
	beforeAll(async () => {
		app = await startApp()
		const email = 'first@newcomer.example'
		const [, token] = app.setupUrl.split('#')
		const answer = await fetch(`${app.url}/api/setup`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
			body: JSON.stringify({ token, organizationName: 'Newcomer', email, name: 'Ida First', password }),
		})
		const cookie = /^remit=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] as string
		beginner = { email, name: 'Ida First', token: cookie }
	})
	afterAll(() => app?.close())

	const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const lane = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
	const newDeal = async (name: string, more = {}) => (await app.client.deals.create({ name, ...more })).id
	const move = async (page: Page, name: string, stage: string) => {
		await press(page, `Move ${name} to`)
		await page.getByRole('menuitem', { name: stage, exact: true }).click()
	}

	it('the dashboard shows each currency by itself, and what is overdue', async () => {
		const { page, complaints } = await app.openApp('/')
		await heading(page, 'Dashboard')
		const { currencies } = await app.client.reports.summary()
		const shown = (currency: string, locale: string) => {
			const cents = currencies.find((one) => one.currency === currency)?.outstanding.cents as number
			return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(cents / 100)
		}
		await page
			.locator('.tile-value', { hasText: shown('EUR', 'en-GB') })
			.first()
			.waitFor()
		await page.getByRole('list', { name: 'Needs attention' }).getByText('INV-0002').waitFor()
		expect(await page.getByRole('table', { name: 'Paid by month, EUR' }).locator('tr').count()).toBe(12)
		await page.getByRole('link', { name: 'DKK' }).click()
		await page.waitForURL(/currency=DKK/)
		const dkk = shown('DKK', 'en-GB').replace(/\u00a0/g, ' ')
		await page.locator('.tile-value').first().getByText(dkk).waitFor()
		expect(complaints).toEqual([])
	})

	it('a new organization sees its first steps, which tick themselves off', async () => {
		const { page } = await app.openApp('/', { person: beginner })
		const steps = page.getByRole('list', { name: 'First steps' })
		await steps.waitFor()
		await page.getByText('0 of 4 done').waitFor()
		await page.getByText('Nothing waits for you').waitFor()
		await steps.getByRole('link', { name: 'Save a tax rate' }).click()
		await heading(page, 'New tax rate')
		await page.getByLabel('Name', { exact: true }).fill('Standard')
		await page.getByLabel('Percent').fill('20')
		await press(page, 'Create tax rate')
		await heading(page, 'Tax rates')
		await page.getByRole('link', { name: 'Dashboard' }).click()
		await page.getByText('1 of 4 done').waitFor()
		expect(await steps.getByRole('link', { name: 'Save a tax rate' }).count()).toBe(0)
	})

	it('a card moves by its menu, and back by Undo', async () => {
		const id = await newDeal('Moved deal')
		const { page, complaints } = await app.openApp('/deals?search=moved')
		await lane(page, 'Lead').getByRole('link', { name: 'Moved deal' }).waitFor()
		await move(page, 'Moved deal', 'Qualified')
		await lane(page, 'Qualified').getByRole('link', { name: 'Moved deal' }).waitFor()
		await page.getByText('Moved deal is in Qualified').waitFor()
		expect((await app.client.deals.get(id)).stage).toBe('qualified')
		await press(page, 'Undo')
		await lane(page, 'Lead').getByRole('link', { name: 'Moved deal' }).waitFor()
		await expect.poll(async () => (await app.client.deals.get(id)).stage).toBe('lead')
		expect(complaints).toEqual([])
	})

	it('a card that somebody else has changed goes back, and the page says so', async () => {
		const id = await newDeal('Contested deal')
		const { page } = await app.openApp('/deals?search=contested')
		await lane(page, 'Lead').getByRole('link', { name: 'Contested deal' }).waitFor()
		await app.client.deals.update(id, { valueCents: 100 })
		await move(page, 'Contested deal', 'Won')
		await page.getByRole('alert').waitFor()
		await lane(page, 'Lead').getByText('€1.00').first().waitFor()
		expect((await app.client.deals.get(id)).stage).toBe('lead')
	})

	it('a person creates a deal for a company that they search, and finds it in the list', async () => {
		const { page } = await app.openApp('/deals')
		await page.keyboard.press('n')
		await heading(page, 'New deal')
		await press(page, 'Create deal')
		await page.getByText('Fill this in').waitFor()
		await page.getByLabel('Name', { exact: true }).fill('Harbour signs')
		await page.getByRole('combobox', { name: 'Company' }).fill('acme')
		await page.getByRole('option', { name: 'Acme GmbH' }).click()
		await page.getByLabel('Value').fill('a lot')
		await page.getByText('Enter an amount such as').waitFor()
		await page.getByLabel('Value').fill('12.500,5')
		await page.getByLabel('Hourly rate').fill('90')
		expect(await page.getByLabel('Value').inputValue()).toBe('12,500.50')
		await press(page, 'Create deal')
		await heading(page, 'Harbour signs')
		await page.getByRole('link', { name: 'Acme GmbH' }).waitFor()
		await page.goto(`${app.url}/app/deals?view=list&search=harbour`)
		const row = page.getByRole('row', { name: /Harbour signs/ })
		await row.getByText('Acme GmbH').waitFor()
		expect(await row.textContent()).toContain('€12,500.50')
	})

	it('two people change different fields of a deal, and both stay', async () => {
		const id = await newDeal('Merged deal')
		const { page } = await app.openApp(`/deals/${id}/edit`)
		await page.getByLabel('Name', { exact: true }).fill('Merged well')
		await app.client.deals.update(id, { hourlyRateCents: 9_900 })
		await press(page, 'Save')
		await page.getByText('their changes are in the form now').waitFor()
		await press(page, 'Save')
		await heading(page, 'Merged well')
		expect(await app.client.deals.get(id)).toMatchObject({ name: 'Merged well', hourlyRateCents: 9_900 })
	})

	it('time that is chosen becomes a draft, as the preview has shown it', async () => {
		const dealId = await newDeal('Billed deal', { hourlyRateCents: 10_000 })
		const hours = ['Design', 'Code', 'Left out']
		for (const [day, taskName] of hours.entries())
			await app.client.timeEntries.create({ dealId, taskName, startedAt: Date.UTC(2026, 2, 2 + day, 9), durationSeconds: 3_600 })
		const { page, complaints } = await app.openApp(`/deals/${dealId}`)
		await page.locator('.unbilled', { hasText: '€300.00' }).waitFor()
		await press(page, 'Make invoice')
		const dialog = page.getByRole('dialog', { name: 'Make an invoice' })
		await dialog.getByText('3 of 3 entries').waitFor()
		// The dialog moves when it comes, maybe under the pointer.
		const preview = dialog.getByRole('table', { name: 'Preview' })
		await preview.waitFor()
		await dialog.getByRole('checkbox', { name: /Left out/ }).click()
		await dialog.getByText('2 of 3 entries').waitFor()
		await dialog
			.getByRole('button', { name: /^Lines/ })
			.or(dialog.getByLabel('Lines'))
			.first()
			.click()
		await page.getByRole('option', { name: 'One line for all' }).click()
		await expect.poll(() => preview.locator('tbody tr').count()).toBe(1)
		await preview.locator('tfoot').getByText('€238.00').waitFor()
		expect(await dialog.getByLabel('Due', { exact: true }).inputValue()).toMatch(/^\d{4}-/)
		await dialog.getByLabel('Due', { exact: true }).fill('2027-01-15')
		await dialog.getByRole('button', { name: 'Create draft' }).click()
		await page.getByText(/was created/).waitFor()
		const [invoice] = (await app.client.invoices.list({ dealId })).data
		expect(invoice).toMatchObject({ status: 'draft', totalCents: 23_800, dueDate: Date.UTC(2027, 0, 15) })
		expect((await app.client.timeEntries.list({ dealId, status: 'open' })).data).toMatchObject([{ taskName: 'Left out' }])
		expect(complaints).toEqual([])
	})

	it('deleting a deal asks first, and one that is not there says so', async () => {
		const id = await newDeal('Dropped deal')
		const { page } = await app.openApp(`/deals/${id}`)
		await press(page, 'More')
		await page.getByRole('menuitem', { name: 'Delete' }).click()
		await page.getByRole('alertdialog', { name: 'Delete Dropped deal?' }).waitFor()
		await press(page, 'Delete Dropped deal')
		await heading(page, 'Deals')
		await page.goto(`${app.url}/app/deals/${id}`)
		await page.getByText('It may have been deleted').waitFor()
	})
})
