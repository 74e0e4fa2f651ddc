// An admin's way through the settings of the organization; a manager reads them, and a member is told who may.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

const png = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
)

needs('chromium').describe('settings of the organization', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const open = () => app.openApp('/settings/organization')
	const saved = (page: Page) => page.getByText('The organization was saved').waitFor()

	it('an admin writes them, and they are in the form again', async () => {
		const { page, complaints } = await open()
		await field(page, 'Address').fill('Lindenallee 7')
		await field(page, 'IBAN').fill('DE89 3704 0044 0532 0130 00')
		await field(page, 'BIC').fill('cobadeff xxx')
		await field(page, 'Numbers begin with').fill('R-{year}-')
		await field(page, 'Digits of a number').selectOption('5')
		await page.getByText(/An invoice looks like R-20\d\d-00042/).waitFor()
		await field(page, 'Time on invoices').selectOption('Rounded up')
		await field(page, 'Rounded to').selectOption('6 minutes')
		await field(page, 'Where connecting may lead back to').fill('https://one.example\nhttps://two.example')
		await press(page, 'Save')
		await saved(page)
		expect(await app.client.organization.get()).toMatchObject({
			addressLine1: 'Lindenallee 7',
			bankAccount: { iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
			invoiceNumberPrefix: 'R-{year}-',
			invoiceNumberDigits: 5,
			timeRounding: 'up',
			timeRoundingMinutes: 6,
			connectReturnOrigins: ['https://one.example', 'https://two.example'],
		})
		for (const name of ['Bank', 'IBAN', 'BIC', 'Where connecting may lead back to']) await field(page, name).fill('')
		await field(page, 'Phone').fill('+49 30 1')
		await press(page, 'Save')
		await expect
			.poll(() => app.client.organization.get())
			.toMatchObject({ bankAccount: null, connectReturnOrigins: [], phone: '+49 30 1' })
		expect(complaints).toEqual([])
	})

	it('calls the numbers of the account as banks of its country do', async () => {
		const { page } = await open()
		for (const [country, name] of [
			['Australia', 'BSB'],
			['United Kingdom', 'Sort code'],
			['Atlantis', 'Routing number'],
		] as const) {
			await field(page, 'Country').fill(country)
			await field(page, name).waitFor()
		}
		await field(page, 'Country').fill('Mexico')
		await field(page, 'Account number').fill('032180000118359719')
		expect(await field(page, 'CLABE').inputValue()).toBe('032180000118359719')
	})

	it('the form goes on with what it has saved: what is typed meanwhile stays, and what is wrong then is named', async () => {
		const { page } = await open()
		const held = Promise.withResolvers<void>()
		await page.route('**/api/organization', async (route) => {
			if (route.request().method() === 'PATCH') await held.promise
			await route.continue()
		})
		await field(page, 'City').fill('Dresden')
		await press(page, 'Save')
		await field(page, 'VAT ID').fill('DE123456789')
		held.resolve()
		await saved(page)
		expect(await field(page, 'VAT ID').inputValue()).toBe('DE123456789')
		await press(page, 'Save')
		await page.getByText('DE123456789 is not a valid VAT ID of Germany').waitFor()
		expect(await page.evaluate("document.activeElement?.getAttribute('name')")).toBe('vatId')
		expect(await page.getByText('Somebody else changed this meanwhile').count()).toBe(0)
	})

	it.each([
		['VAT ID', 'DE123456789', 'vatId'],
		['IBAN', 'DE00370400440532013000', 'iban'],
		['BIC', 'short', 'bic'],
		['E-mail', 'nobody@', 'email'],
		['Numbers begin with', 'R #', 'invoiceNumberPrefix'],
		['Where connecting may lead back to', 'https://one.example/path', 'connectReturnOrigins'],
	])('a wrong %s is named at its field, which has the focus', async (label, wrong, name) => {
		const { page } = await open()
		await field(page, label).fill(wrong)
		await press(page, 'Save')
		await page
			.locator('.field', { has: field(page, label) })
			.locator('.field-error', { hasText: /\w/ })
			.waitFor()
		expect(await page.evaluate("document.activeElement?.getAttribute('name')")).toBe(name)
	})

	it('a colour that cannot be read on white is named at its field', async () => {
		const { page } = await open()
		await field(page, 'Accent colour').fill('#ffee00')
		await press(page, 'Save')
		await page.locator('.field-error', { hasText: /white/ }).waitFor()
		await field(page, 'Accent colour').fill('#0f5c4d')
		await press(page, 'Save')
		await saved(page)
		expect((await app.client.organization.get()).accentColor).toBe('#0f5c4d')
	})

	it('a logo is uploaded, shown, and removed, which is no conflict with the form beside it', async () => {
		const { page, complaints } = await open()
		await field(page, 'City').fill('Leipzig')
		const upload = (name: string, mimeType: string, buffer: Buffer) =>
			field(page, 'File of the logo').setInputFiles({ name, mimeType, buffer })
		await upload('logo.gif', 'image/gif', png)
		await page.getByText('logo.gif is no PNG, JPEG or SVG.').waitFor()
		await upload('large.png', 'image/png', Buffer.alloc(2_000_000))
		await page.getByText('large.png has 1.9 MB; a logo may have 1 MB.').waitFor()
		expect(complaints).toEqual([])
		await upload('logo.png', 'image/png', Buffer.from('no image'))
		await page.getByText('The logo must be a PNG, a JPEG or an SVG with a size.').waitFor()
		await upload('logo.png', 'image/png', png)
		await page.getByRole('img', { name: 'Logo, 1 × 1 pixels' }).waitFor()
		expect((await app.client.organization.get()).logo).toMatchObject({ format: 'png' })
		await press(page, 'Remove logo')
		await page.getByRole('img', { name: /^Logo/ }).waitFor({ state: 'detached' })
		await press(page, 'Undo')
		await page.getByRole('img', { name: /^Logo/ }).waitFor()
		await press(page, 'Save')
		await saved(page)
		expect(await app.client.organization.get()).toMatchObject({ city: 'Leipzig', logo: { format: 'png' } })
	})

	it('what another admin changed meanwhile is merged, and what both did is asked', async () => {
		const { page } = await open()
		await field(page, 'IBAN').waitFor()
		await field(page, 'Account holder').fill('My holder')
		await field(page, 'City').fill('Mine')
		await app.client.organization.update({ city: 'Theirs', bankAccount: { iban: 'DE89370400440532013000' } })
		await press(page, 'Save')
		await page.getByRole('group', { name: 'City' }).waitFor()
		expect(await field(page, 'IBAN').inputValue()).toBe('DE89370400440532013000')
		await press(page, 'Keep theirs: City')
		await press(page, 'Save')
		await saved(page)
		expect(await app.client.organization.get()).toMatchObject({
			city: 'Theirs',
			bankAccount: { holder: 'My holder', iban: 'DE89370400440532013000' },
		})
	})

	it('a manager reads them, a member is told who may, and the palette leads there', async () => {
		const manager = await app.openApp('/settings/organization', { person: await app.newPerson('manager') })
		await manager.page.getByText('An admin changes these.').waitFor()
		expect(await manager.page.getByRole('textbox').count()).toBe(0)
		await manager.page.getByText('Northlight Studio').first().waitFor()
		const member = await app.openApp('/settings/organization', { person: await app.newPerson('member') })
		await member.page.getByText('This is for managers and admins').waitFor()
		const { page } = await app.openApp('/')
		await page.keyboard.press('Control+k')
		await page.getByRole('combobox', { name: 'Search everything' }).fill('organiz')
		await page.getByRole('option', { name: /^Organization/ }).click()
		await page.getByRole('heading', { level: 1, name: 'Organization' }).waitFor()
		expect([...manager.complaints, ...member.complaints]).toEqual([])
	})
})
