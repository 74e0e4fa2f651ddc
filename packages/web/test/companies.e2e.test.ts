// A person's way through companies, with another person changing the same records meanwhile.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('companies', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
	const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const newCompany = async (name: string) => (await app.client.companies.create({ name, phone: '1', notes: 'first' })).id

	it('a person creates one with the keyboard alone, and it is in the list', async () => {
		const { page, complaints } = await app.openApp('/companies')
		await page.keyboard.press('n')
		await heading(page, 'New company')
		await page.keyboard.type('Zebra Works')
		await page.keyboard.press('Control+s')
		await heading(page, 'Zebra Works')
		expect(await page.evaluate('document.activeElement?.tagName')).toBe('H1')
		await page.keyboard.press('g')
		await page.keyboard.press('c')
		await heading(page, 'Companies')
		await page.keyboard.press('/')
		await page.keyboard.type('zebra')
		await page.waitForURL(/search=zebra/)
		await page.getByText('1 company').waitFor()
		expect(await page.getByRole('link', { name: 'Zebra Works' }).count()).toBe(1)
		expect(complaints).toEqual([])
	})

	it('a name in quotes is found at each key, in the list and in the palette, and a sign alone is no error', async () => {
		await app.client.companies.create({ name: 'Quoted Works' })
		const { page, complaints } = await app.openApp('/companies')
		await page.getByRole('link', { name: 'Quoted Works' }).waitFor()
		const failed: number[] = []
		page.on('response', (response) => response.status() >= 400 && failed.push(response.status()))
		await page.keyboard.press('/')
		await page.keyboard.type('"')
		await page.waitForURL(/search=/)
		await page.getByText('0 companies').waitFor()
		for (const key of 'Quoted"') {
			await page.keyboard.type(key)
			await page.getByRole('link', { name: 'Quoted Works' }).waitFor()
		}
		await page.keyboard.press('Control+k')
		const palette = page.getByLabel('Search everything')
		await palette.fill('%')
		await page.getByText('Nothing is called that.').waitFor()
		await palette.fill('"quoted')
		await page.getByRole('option', { name: /Quoted Works/ }).waitFor()
		expect([failed, complaints]).toEqual([[], []])
	})

	it('the list goes on by itself, and draws the rows in view alone', async () => {
		for (let n = 100; n < 250; n++) await app.client.companies.create({ name: `Long list ${n}` })
		const { page } = await app.openApp('/companies?search=long+list')
		await page.getByText('150 companies').waitFor()
		const last = page.getByRole('link', { name: 'Long list 249' })
		for (let turns = 0; turns < 40 && (await last.count()) === 0; turns++) {
			await page.mouse.wheel(0, 2_000)
			await page.waitForLoadState('networkidle')
		}
		await last.waitFor()
		expect(await page.locator('tr[data-row]').count()).toBeLessThan(60)
	})

	it('what the server refuses is said at its field, which has the focus', async () => {
		const { page } = await app.openApp('/companies/new')
		await press(page, 'Create company')
		expect(await page.getByText('Fill this in').count()).toBe(1)
		await field(page, 'Name').fill('Refused')
		await field(page, 'VAT ID').fill('DE1')
		await press(page, 'Create company')
		await page.locator('.field-error', { hasText: /\w/ }).waitFor()
		expect(await page.evaluate("document.activeElement?.getAttribute('name')")).toBe('vatId')
	})

	it('two people change different fields, and both stay', async () => {
		const id = await newCompany('Merged')
		const { page } = await app.openApp(`/companies/${id}/edit`)
		await field(page, 'Phone').fill('mine')
		await app.client.companies.update(id, { notes: 'theirs' })
		await press(page, 'Save')
		await page.getByText('their changes are in the form now').waitFor()
		expect(await field(page, 'Notes').inputValue()).toBe('theirs')
		await press(page, 'Save')
		await heading(page, 'Merged')
		expect(await app.client.companies.get(id)).toMatchObject({ phone: 'mine', notes: 'theirs' })
	})

	it('two people change the same field, and the person chooses', async () => {
		const id = await newCompany('Chosen')
		const { page } = await app.openApp(`/companies/${id}/edit`)
		await field(page, 'Phone').fill('my phone')
		await field(page, 'Notes').fill('my notes')
		await app.client.companies.update(id, { phone: 'their phone', notes: 'their notes' })
		await press(page, 'Save')
		await page.getByText('2 fields were changed by both').waitFor()
		await press(page, 'Keep yours: Phone')
		await press(page, 'Keep theirs: Notes')
		await press(page, 'Save')
		await heading(page, 'Chosen')
		expect(await app.client.companies.get(id)).toMatchObject({ phone: 'my phone', notes: 'their notes' })
	})

	it('what is typed while a change is saved stays as not saved, and a record under way takes nothing more', async () => {
		const id = await newCompany('Under way')
		const { page } = await app.openApp(`/companies/${id}/edit`)
		let held = Promise.withResolvers<void>()
		await page.route('**/api/companies{,/*}', async (route) => {
			if (route.request().method() !== 'GET') await held.promise
			await route.continue()
		})
		await field(page, 'Notes').fill('Eins')
		const sent = page.waitForRequest((request) => request.method() === 'PATCH')
		await page.keyboard.press('Control+s')
		await sent
		await field(page, 'Notes').fill('Eins zwei')
		held.resolve()
		await page.getByText('What you typed meanwhile is not saved yet').waitFor()
		expect(await field(page, 'Notes').inputValue()).toBe('Eins zwei')
		expect((await app.client.companies.get(id)).notes).toBe('Eins')
		await press(page, 'Save')
		await heading(page, 'Under way')
		expect((await app.client.companies.get(id)).notes).toBe('Eins zwei')

		await page.goto(`${app.url}/app/companies/new`)
		held = Promise.withResolvers<void>()
		await field(page, 'Name').fill('Made once')
		const created = page.waitForRequest((request) => request.method() === 'POST')
		await page.keyboard.press('Control+s')
		await created
		await page.keyboard.type(' more')
		expect(await field(page, 'Name').inputValue()).toBe('Made once')
		held.resolve()
		await heading(page, 'Made once')
	})

	it('what is not saved is guarded, and comes back after a reload', async () => {
		const id = await newCompany('Guarded')
		const { page } = await app.openApp(`/companies/${id}/edit`)
		await field(page, 'Phone').fill('typed')
		await press(page, 'Cancel')
		await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor()
		await press(page, 'Keep editing')
		await expect
			.poll(() => page.evaluate(() => Object.keys(sessionStorage).some((key) => key.startsWith('remit draft'))))
			.toBe(true)
		page.on('dialog', (dialog) => dialog.accept())
		await page.reload()
		await page.getByText(/^Unsaved changes from/).waitFor()
		expect(await field(page, 'Phone').inputValue()).toBe('typed')
		await press(page, 'Discard')
		expect(await field(page, 'Phone').inputValue()).toBe('1')
		await press(page, 'Cancel')
		await heading(page, 'Guarded')
	})

	it('deleting asks first, and Enter does not do it', async () => {
		const id = await newCompany('Kept')
		const { page } = await app.openApp(`/companies/${id}`)
		const remove = async () => {
			await press(page, 'More')
			await page.getByRole('menuitem', { name: 'Delete' }).click()
			await page.getByRole('alertdialog', { name: 'Delete Kept?' }).waitFor()
		}
		await remove()
		await page.keyboard.press('Enter')
		await page.getByRole('alertdialog').waitFor({ state: 'detached' })
		expect((await app.client.companies.get(id)).name).toBe('Kept')
		await remove()
		await press(page, 'Delete Kept')
		await heading(page, 'Companies')
		await page.getByText('Kept was deleted').waitFor()
		await expect(app.client.companies.get(id)).rejects.toThrow('company_not_found')
	})

	it('the palette finds a company by its name and opens it', async () => {
		await newCompany('Quixotic')
		const { page, complaints } = await app.openApp('/companies')
		await page.keyboard.press('Control+k')
		await page.getByRole('combobox', { name: 'Search everything' }).fill('quixo')
		await page.getByRole('option', { name: /Quixotic/ }).waitFor()
		await page.keyboard.press('Enter')
		await heading(page, 'Quixotic')
		expect(complaints).toEqual([])
	})

	it('a company that is not there says so, and a failed request can be repeated', async () => {
		const { page } = await app.openApp('/companies/cmp_unknown00000000000')
		await page.getByText('It may have been deleted').waitFor()
		expect(await page.getByRole('alert').getByText(/^req_/).count()).toBe(1)
		await page.goto(`${app.url}/app/no-such-page`)
		await heading(page, 'There is no such page')
	})

	it('without a connection the page says so and keeps what it has', async () => {
		const { page } = await app.openApp('/companies')
		const company = page.getByRole('link', { name: 'Acme GmbH' })
		await company.waitFor()
		await page.context().setOffline(true)
		await page.getByText(/^No connection/).waitFor()
		expect(await company.count()).toBe(1)
		await page.context().setOffline(false)
		await page.getByText(/^No connection/).waitFor({ state: 'detached' })
	})

	it('the theme is kept, and the keys are listed', async () => {
		const { page } = await app.openApp('/companies')
		await page.getByRole('button', { name: /Lindqvist|Okafor|Vogel/ }).click()
		await page.getByRole('menuitem', { name: 'Dark' }).click()
		await page.reload()
		await heading(page, 'Companies')
		expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(236, 239, 244)')
		await page.keyboard.press('?')
		await page.getByRole('dialog', { name: 'Keys' }).waitFor()
	})

	it('Enter waits for what the typed text finds, and never opens what an earlier text found', async () => {
		await newCompany('Quokka One')
		await newCompany('Wallaby Two')
		const { page } = await app.openApp('/companies')
		await page.keyboard.press('Control+k')
		const box = page.getByRole('combobox', { name: 'Search everything' })
		await box.fill('quokka')
		await page.getByRole('option', { name: /Quokka One/ }).waitFor()
		const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>()
		await page.route('**/api/search?*', async (route) => {
			await isAllowed
			await route.continue()
		})
		await box.fill('wallaby')
		await page.keyboard.press('Enter')
		expect(await box.inputValue()).toBe('wallaby')
		allow()
		await page.getByRole('option', { name: /Wallaby Two/ }).waitFor()
		await page.keyboard.press('Enter')
		await heading(page, 'Wallaby Two')
	})

	it('invoices and deals of a company lead on, with the due day and the stage as everywhere', async () => {
		const companyId = await newCompany('Leading On')
		const pipeline = await app.client.pipelines.create({
			name: 'Words',
			stages: [{ key: 'qualified', label: 'Fits us well', type: 'open' }],
		})
		const deal = await app.client.deals.create({ name: 'Deal in words', companyId, pipelineId: pipeline.id, stage: 'qualified' })
		const { timeZone, locale } = await app.client.organization.get()
		// An instant at which it is already the day after in the zone of the organization.
		const dueDate = Date.UTC(2024, 2, 10, 23, 30)
		const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.UTC(2024, 2, 11))
		await app.client.organization.update({ timeZone: 'Asia/Tokyo' })
		try {
			const { id } = await app.client.invoices.create({
				companyId,
				dealId: deal.id,
				currency: 'EUR',
				dueDate,
				status: 'sent',
				lineItems: [{ description: 'One', unitPriceCents: 1000 }],
			})
			const { invoiceNumber } = await app.client.invoices.get(id)
			const { page } = await app.openApp(`/companies/${companyId}`)
			await page.getByText('Fits us well').waitFor()
			await page.getByText(day).waitFor()
			await page.getByRole('link', { name: 'All invoices' }).click()
			await page.waitForURL(new RegExp(`company=${companyId}`))
			await page.goBack()
			await page.getByRole('link', { name: invoiceNumber }).click()
			await heading(page, invoiceNumber)
			await page.goto(`${app.url}/app/deals/${deal.id}`)
			await page.getByText(`Due ${day}`).waitFor()
			await page.goto(`${app.url}/app/`)
			await page.getByText(`Leading On · due ${day}`).waitFor()
		} finally {
			await app.client.organization.update({ timeZone })
		}
	})

	it('a list that goes on does not say that its first rows are all', async () => {
		for (let n = 0; n < 101; n++) await app.client.companies.create({ name: `Counted ${n}` })
		const { page } = await app.openApp('/companies?search=counted')
		await page.getByText('101 companies').waitFor()
		const table = page.getByRole('table', { name: 'Companies' })
		expect(await table.getAttribute('aria-rowcount')).toBe('-1')
		await page.keyboard.press('End')
		await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('102')
	})

	it('Save is Ctrl with S also while caps lock is on', async () => {
		const id = await newCompany('Capital')
		const { page } = await app.openApp(`/companies/${id}/edit`)
		await field(page, 'Phone').fill('typed')
		await page.evaluate(
			"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'S', ctrlKey: true, bubbles: true }))",
		)
		await heading(page, 'Capital')
		expect((await app.client.companies.get(id)).phone).toBe('typed')
	})

	it('the palette offers a person the places that their role opens', async () => {
		for (const [role, count] of [
			['member', 0],
			['manager', 1],
		] as const) {
			const { page } = await app.openApp('/companies', { person: await app.newPerson(role) })
			await page.keyboard.press('Control+k')
			await page.getByRole('option', { name: /^Mappings/ }).waitFor()
			expect(await page.getByRole('option', { name: /^Webhooks/ }).count()).toBe(count)
		}
	})
})
