// An invoice from nothing to the client's mail, for somebody who sees none of it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'
import { ScreenReader } from './screen-reader.ts'

needs('chromium').describe('by the names of a screen reader alone', { timeout: 90_000 }, () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
		await app.client.companies.create({ name: 'Zebra Works', billingEmail: 'pay@zebra.example' })
	})
	afterAll(() => app?.close())

	it('a person writes an invoice, hears what is wrong with it and what it comes to, and sends it', async () => {
		const { page, complaints } = await app.openApp('/')
		const reader = await ScreenReader.on(page)
		await reader.press('link', 'Invoices', ['navigation', 'Main'])
		await reader.find('heading', 'Invoices')
		await expect.poll(() => reader.focused()).toBe('heading “Invoices”')
		await reader.press('link', 'New invoice')
		await reader.find('heading', 'New invoice')

		await reader.type('combobox', 'Client', 'zebra')
		await reader.press('option', /^Zebra Works/)
		const [first, second] = [
			['group', 'Line 1'],
			['group', 'Line 2'],
		] as const
		await reader.type('textbox', 'Description', 'Workshop', first)
		await reader.type('textbox', 'Quantity', '2', first)
		await reader.type('textbox', 'Unit', 'day', first)
		await reader.type('textbox', 'Price', 'twelve', first)
		await reader.press('button', 'Add line')
		await expect.poll(() => reader.focused()).toBe('textbox “Description”')
		await reader.type('textbox', 'Description', 'Travel', second)
		await reader.type('textbox', 'Price', '50', second)
		await reader.press('button', 'Save draft')
		const price = await reader.find('textbox', 'Price', first)
		await expect.poll(() => reader.focused()).toBe('textbox “Price”')
		expect(price.description?.value).toContain('“twelve” is no number')
		expect(price.properties).toContainEqual({ name: 'invalid', value: { type: 'token', value: 'true' } })
		await reader.type('textbox', 'Price', '450', first)
		await reader.press('button', 'Due: 14 days')
		await reader.find('StaticText', '€1,130.50')
		await reader.press('button', 'Save draft')

		const title = await reader.find('heading', /^INV-\d+$/)
		const number = String(title.name?.value)
		await reader.find('StaticText', 'Draft')
		await reader.press('button', 'Send')
		const dialog = ['dialog', `Send ${number}`] as const
		expect((await reader.find('textbox', 'To', dialog)).value?.value).toBe('pay@zebra.example')
		await reader.type('textbox', 'Message', 'Thank you.', dialog)
		await reader.press('button', `Send ${number}`, dialog)
		await reader.find('StaticText', 'The invoice was sent to pay@zebra.example')
		await expect.poll(() => reader.focused()).not.toBe('nothing')
		await reader.find('button', 'Mark paid')

		const [invoice] = (await app.client.invoices.list({ search: number })).data
		expect(invoice).toMatchObject({ status: 'sent', subtotalCents: 95_000, totalCents: 113_050 })
		expect(complaints).toEqual([])
	})
})
