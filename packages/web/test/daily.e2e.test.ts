// A person's way through time, tax rates and contacts.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('time, tax rates and contacts', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
	const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const chooseDeal = async (page: Page, text: string, name: string) => {
		await page.getByRole('combobox', { name: 'Deal' }).fill(text)
		await page.getByRole('option', { name }).click()
	}

	it.each([
		['/invoices', 'Invoices by status', 'All'],
		['/invoices?tab=draft&search=a', 'Invoices by status', 'Draft'],
		['/invoices?tab=draft', 'Main', 'Invoices'],
		['/deals?view=list', 'Views', 'List'],
		['/time?who=me&week=2026-07-01', 'Whose time', 'Mine'],
		['/time', 'Weeks', 'This week'],
		['/?currency=USD', 'Currencies', 'USD'],
	])('%s has one current link in “%s”: %s', async (path, navigation, link) => {
		const { page } = await app.openApp(path)
		const current = page.getByRole('navigation', { name: navigation }).locator('[aria-current]')
		await expect.poll(() => current.allTextContents()).toEqual([link])
		expect(await page.locator('th [aria-current]').count()).toBe(0)
	})

	it('a timer is started and stopped, and a person has one', async () => {
		const { page, complaints } = await app.openApp('/time?who=me')
		await press(page, 'Start')
		await page.getByText('Choose a deal').waitFor()
		await chooseDeal(page, 'web shop', 'Web shop relaunch')
		await field(page, 'Task').fill('Timed task')
		await press(page, 'Start')
		await page.getByRole('timer').waitFor()
		const [running] = (await app.client.timeEntries.list({ search: 'timed' })).data
		expect(running).toMatchObject({ taskName: 'Timed task', endedAt: null, userId: expect.stringMatching(/^usr_/) })
		expect(await page.getByRole('button', { name: 'Start', exact: true }).count()).toBe(0)
		await press(page, 'Stop')
		await page.getByText('The timer was stopped').waitFor()
		await page.getByRole('button', { name: 'Start', exact: true }).waitFor()
		await page.getByRole('link', { name: 'Timed task' }).waitFor()
		expect((await app.client.timeEntries.get(running?.id as string)).durationSeconds).not.toBeNull()
		expect(complaints).toEqual([])
	})

	it('the week says whose time it is, to a member as well', async () => {
		const worker = await app.newPerson('member')
		const { data } = await app.client.users.list({ limit: 100 })
		const userId = data.find(({ email }) => email === worker.email)?.id as string
		const [deal] = (await app.client.deals.list({ limit: 1 })).data
		const entry = { dealId: deal?.id as string, durationSeconds: 60 }
		await app.client.timeEntries.create({ ...entry, userId, taskName: 'Of a person' })
		await app.client.timeEntries.create({ ...entry, userId: 'badge-7', taskName: 'Of a badge' })
		const { page, complaints } = await app.openApp('/time', { person: await app.newPerson('member') })
		const row = (task: string) => page.getByRole('listitem').filter({ hasText: task })
		await row('Of a person').getByText(worker.name).waitFor()
		await row('Of a badge').getByText('badge-7').waitFor()
		await page.getByRole('link', { name: 'Mine' }).click()
		await row('Of a person').waitFor({ state: 'detached' })
		expect(complaints).toEqual([])
	})

	it('time is added by hand, in the time of the organization, and corrected', async () => {
		const { page } = await app.openApp('/time/new')
		await press(page, 'Add time')
		await page.getByText('3 fields need a look').or(page.getByText('2 fields need a look')).waitFor()
		await chooseDeal(page, 'brand', 'Brand refresh')
		await field(page, 'Task').fill('Typed task')
		await field(page, 'Day').fill('2026-07-01')
		await field(page, 'Start').fill('08:30')
		await field(page, 'Duration').fill('soon')
		await page.getByText('Enter a duration such as').waitFor()
		await field(page, 'Duration').fill('1.5')
		await press(page, 'Add time')
		await heading(page, 'Time')
		await page.getByText('08:30–10:00').waitFor()
		const [entry] = (await app.client.timeEntries.list({ search: 'typed' })).data
		expect(entry).toMatchObject({ startedAt: Date.UTC(2026, 6, 1, 6, 30), durationSeconds: 5_400 })
		await page.getByRole('link', { name: 'Typed task' }).click()
		await heading(page, 'Edit time')
		await field(page, 'Start').fill('09:00')
		await press(page, 'Save')
		await page.getByText('09:00–10:30').waitFor()
		await page.getByRole('link', { name: 'Typed task' }).click()
		await heading(page, 'Edit time')
		await press(page, 'Delete')
		await press(page, 'Delete 1:30 h')
		await page.getByText('The time was deleted').waitFor()
		await page.getByText('No time in this week').waitFor()
	})

	it('weeks are turned by links, and time on an invoice cannot change', async () => {
		const { page } = await app.openApp('/time?week=2026-07-01')
		await page.getByRole('link', { name: 'Week before' }).click()
		await page.waitForURL(/week=2026-06-22/)
		await page.getByText(/22\s?–\s?28 June? 2026/).waitFor()
		await page.goto(`${app.url}/app/time?week=2026-99-99`)
		await page.getByRole('link', { name: 'This week' }).waitFor()
		const [invoiced] = (await app.client.timeEntries.list({ status: 'invoiced', limit: 1 })).data
		await page.goto(`${app.url}/app/time/${invoiced?.id}/edit`)
		await page.getByText('This time is on an invoice').waitFor()
	})

	it('a tax rate is created, archived and brought back', async () => {
		const { page, complaints } = await app.openApp('/tax-rates')
		await page.keyboard.press('n')
		await heading(page, 'New tax rate')
		await field(page, 'Name').fill('Reduced rate')
		await field(page, 'Percent').fill('seven')
		await page.getByText('Enter a percentage such as').waitFor()
		await field(page, 'Percent').fill('7,5')
		await press(page, 'Create tax rate')
		await heading(page, 'Tax rates')
		const row = page.getByRole('row', { name: /Reduced rate/ })
		await row.getByText('7.5 %').waitFor()
		await row.getByRole('link').click()
		await press(page, 'Archive')
		await page.getByText('Reduced rate was archived').waitFor()
		await row.getByText('Archived').waitFor()
		await press(page, 'Undo')
		await row.getByText('Active').waitFor()
		expect((await app.client.taxRates.list()).data).toContainEqual(
			expect.objectContaining({ name: 'Reduced rate', label: 'Reduced rate', percent: '7.5', active: true }),
		)
		expect(complaints).toEqual([])
	})

	it('the percentage of a rate that an invoice has stays, and its field says so', async () => {
		const { id: taxRateId } = await app.client.taxRates.create({ name: 'Used rate', percent: '5' })
		await app.client.invoices.create({ lineItems: [{ description: 'Work', quantity: '1', unitPriceCents: 100, taxRateId }] })
		const { page } = await app.openApp(`/tax-rates/${taxRateId}/edit`)
		await field(page, 'Percent').fill('6')
		await press(page, 'Save')
		await page.locator('.field-error', { hasText: /\w/ }).waitFor()
		expect(await page.evaluate("document.activeElement?.getAttribute('name')")).toBe('percent')
		expect((await app.client.taxRates.get(taxRateId)).percent).toBe('5')
	})

	it('a member reads tax rates, and is not offered to change them', async () => {
		const { page } = await app.openApp('/tax-rates', { person: await app.newPerson('member') })
		await page.getByText('Germany, standard').waitFor()
		expect(await page.getByRole('link', { name: 'New tax rate' }).count()).toBe(0)
		expect(await page.getByRole('link', { name: 'Germany, standard' }).count()).toBe(0)
	})

	it('a contact is created for a company, found, changed by two people and deleted', async () => {
		const { page, complaints } = await app.openApp('/contacts')
		await page.keyboard.press('n')
		await heading(page, 'New contact')
		await field(page, 'Name').fill('Xenia Quist')
		await field(page, 'E-mail').fill('no address')
		await press(page, 'Create contact')
		await page.getByText('Enter an e-mail address').waitFor()
		await field(page, 'E-mail').fill('xenia@acme.example')
		await page.getByRole('combobox', { name: 'Company' }).fill('acme')
		await page.getByRole('option', { name: 'Acme GmbH' }).click()
		await press(page, 'Create contact')
		await heading(page, 'Xenia Quist')
		await page.getByRole('link', { name: 'Acme GmbH' }).waitFor()
		await page.getByRole('link', { name: 'Acme GmbH' }).click()
		await page.getByRole('list', { name: 'Contacts' }).getByRole('link', { name: 'Xenia Quist' }).waitFor()
		await page.getByRole('link', { name: 'New deal' }).click()
		await heading(page, 'New deal')
		await expect.poll(() => page.getByRole('combobox', { name: 'Company' }).inputValue()).toBe('Acme GmbH')
		await page.goto(`${app.url}/app/contacts?search=xenia`)
		await page.getByText('1 contact').waitFor()
		await page.getByRole('link', { name: 'Xenia Quist' }).click()
		await heading(page, 'Xenia Quist')
		await page.keyboard.press('e')
		await heading(page, 'Edit Xenia Quist')
		const id = (await app.client.contacts.list({ search: 'xenia' })).data[0]?.id as string
		await field(page, 'Phone').fill('mine')
		await app.client.contacts.update(id, { phone: 'theirs' })
		await press(page, 'Save')
		await page.getByText('One field was changed by both of you').waitFor()
		await press(page, 'Keep theirs: Phone')
		await press(page, 'Save')
		await heading(page, 'Xenia Quist')
		expect((await app.client.contacts.get(id)).phone).toBe('theirs')
		await press(page, 'More')
		await page.getByRole('menuitem', { name: 'Delete' }).click()
		await press(page, 'Delete Xenia Quist')
		await heading(page, 'Contacts')
		await expect(app.client.contacts.get(id)).rejects.toThrow('contact_not_found')
		// The answer to a save that met another version is an error of the network for the browser.
		expect(complaints.filter((text) => !text.includes('412'))).toEqual([])
	})

	it('time is stored on the day that the form shows, also when it is sent after midnight', async () => {
		const { timeZone } = await app.client.organization.get()
		await app.client.organization.update({ timeZone: 'UTC' })
		const { page } = await app.openApp('/time')
		await page.clock.setFixedTime('2026-03-10T23:59:30Z')
		await page.getByRole('link', { name: 'Add time' }).first().click()
		await heading(page, 'Add time')
		expect(await field(page, 'Day').inputValue()).toBe('2026-03-10')
		await page.clock.setFixedTime('2026-03-11T00:00:30Z')
		await chooseDeal(page, 'web shop', 'Web shop relaunch')
		await field(page, 'Task').fill('Around midnight')
		await field(page, 'Duration').fill('1:00')
		await press(page, 'Add time')
		await page.getByText('The time was added').waitFor()
		const [entry] = (await app.client.timeEntries.list({ search: 'midnight' })).data
		expect(new Date(entry?.startedAt as number).toISOString()).toBe('2026-03-10T09:00:00.000Z')
		await app.client.organization.update({ timeZone })
	})

	it('a duration that is not understood is not dropped: nothing is saved', async () => {
		const [deal] = (await app.client.deals.list({ limit: 1 })).data
		const { id } = await app.client.timeEntries.create({ dealId: deal?.id as string, taskName: 'Still running' })
		const { page } = await app.openApp(`/time/${id}/edit`)
		await field(page, 'Task').fill('Renamed')
		await field(page, 'Duration').fill('an hour')
		await press(page, 'Save')
		await page.getByText('Enter a duration such as 1:30, 1.5 or 90m').waitFor()
		expect(await page.evaluate("document.activeElement?.getAttribute('name')")).toBe('durationSeconds')
		expect(await field(page, 'Duration').inputValue()).toBe('an hour')
		expect(await app.client.timeEntries.get(id)).toMatchObject({ taskName: 'Still running', durationSeconds: null })
		await field(page, 'Duration').fill('1:00')
		await press(page, 'Save')
		await page.getByText('The time was saved').waitFor()
		expect(await app.client.timeEntries.get(id)).toMatchObject({ taskName: 'Renamed', durationSeconds: 3_600 })
	})
})
