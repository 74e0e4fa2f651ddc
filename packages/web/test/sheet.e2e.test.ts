// The invoice as its client sees it, beside what its sender does with it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { png } from '../../server/test/images.ts'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('the sheet', () => {
	let app: App
	let companyId = ''
	beforeAll(async () => {
		app = await startApp()
		const { organization, companies } = app.client
		await organization.update({
			language: 'de',
			locale: 'de-DE',
			accentColor: '#0f5c4d',
			footer: 'Amtsgericht Hamburg, HRB 4711',
			bankAccount: { iban: 'DE89370400440532013000', bankName: 'Hafenbank' },
		})
		await organization.logo.replace({ data: png(400, 100, [15, 92, 77]).toString('base64') })
		const address = {
			billingAddressLine1: 'Hauptstraße 1',
			billingPostalCode: '10115',
			billingCity: 'Berlin',
			billingCountry: 'DE',
		}
		companyId = (await companies.create({ name: 'Zebra Werke GmbH', vatId: 'DE136695976', ...address })).id
	})
	afterAll(() => app?.close())

	const newInvoice = (more: object = {}) =>
		app.client.invoices.create({
			companyId,
			currency: 'EUR',
			dueDate: '2026-12-31',
			paymentTerms: 'Ohne Abzug',
			lineItems: [
				{ kind: 'text', description: 'Beratung' },
				{
					description: 'Workshop',
					quantity: '1.5',
					unit: 'Tag',
					unitPriceCents: 90_000,
					taxes: [{ label: 'USt.', percent: '19' }],
					periodStart: '2026-03-01',
					periodEnd: '2026-03-31',
				},
				{ description: 'Buch', unitPriceCents: 2_000, discountPercent: '10', taxes: [{ label: 'USt.', percent: '7' }] },
			],
			...more,
		})
	const sheetOf = async (id: string, options = {}) => {
		const { page, complaints } = await app.openApp(`/invoices/${id}`, options)
		const sheet = page.getByRole('article', { name: /as the client sees it$/ })
		await sheet.waitFor()
		// Numbers are written with narrow spaces.
		const text = ((await sheet.textContent()) ?? '').replaceAll(/[\u00a0\u202f]/g, ' ')
		return { page, complaints, sheet, text }
	}

	it('that was marked as paid is marked as not paid again, not where a payment was recorded', async () => {
		const [sent, draft, recorded] = [
			await newInvoice({ status: 'sent' }),
			await newInvoice(),
			await newInvoice({ status: 'sent' }),
		]
		for (const { id } of [sent, draft]) await app.client.invoices.update(id, { status: 'paid' })
		const { totalCents: amountCents } = await app.client.invoices.get(recorded.id)
		await app.client.payments.create({ invoiceId: recorded.id, amountCents })
		for (const [{ id }, status] of [
			[sent, 'sent'],
			[draft, 'draft'],
		] as const) {
			const { page } = await sheetOf(id)
			await page.getByText('Marked as paid').first().waitFor()
			await page.getByRole('button', { name: 'More' }).click()
			await page.getByRole('menuitem', { name: 'Mark as not paid' }).click()
			await page.getByText(/ is not paid$/).waitFor()
			expect(await app.client.invoices.get(id)).toMatchObject({ status, amountPaidCents: 0, paidDate: null })
		}
		const { page } = await sheetOf(recorded.id)
		await page.getByRole('button', { name: /^Reverse the payment/ }).waitFor()
		await page.getByRole('button', { name: 'More' }).click()
		await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor()
		expect(await page.getByRole('menuitem', { name: 'Mark as not paid' }).count()).toBe(0)
	})

	it('is in the language of the invoice, with logo, colour, taxes by line, period, account and footer', async () => {
		const { id } = await newInvoice({ status: 'sent' })
		await app.client.organization.update({ language: 'en', locale: 'en-IE', accentColor: null, bankAccount: null })
		const { page, complaints, sheet, text } = await sheetOf(id)
		for (const part of [
			'Rechnung',
			'Rechnung an',
			'Zebra Werke GmbH',
			'10115 Berlin',
			'01.03.2026 – 31.03.2026',
			'1,5 Tag',
			'900,00 €',
			'USt. 19 %',
			'USt. 7 %',
			'10 %',
			'1.350,00 €',
			'Ohne Abzug',
			'IBAN DE89 3704 0044 0532 0130 00',
			'HRB 4711',
		])
			expect(text).toContain(part)
		expect(await sheet.getAttribute('lang')).toBe('de')
		const colour = "getComputedStyle(document.querySelector('article.sheet')).borderBlockStartColor"
		expect(await page.evaluate(colour)).toBe('rgb(15, 92, 77)')
		expect(await sheet.locator('img').evaluate((image: { naturalWidth?: number }) => image.naturalWidth)).toBe(400)
		expect(complaints).toEqual([])
	})

	it('of a draft is what would be sent now, and says what it lacks', async () => {
		const { id } = await app.client.invoices.create({})
		const { text } = await sheetOf(id)
		expect(text).toContain('No client yet')
		expect(text).toContain('No lines yet')
		expect(text).toContain('Invoice')
	})

	it('changes when the invoice does', async () => {
		const { id } = await newInvoice({ status: 'sent' })
		const { page, sheet } = await sheetOf(id)
		await page.getByRole('button', { name: 'Mark paid', exact: true }).click()
		await page.getByRole('dialog').getByRole('button', { name: /^Mark/ }).click()
		await sheet.getByText('Amount paid').waitFor()
	})

	it('says what a payment was more, and is owed again once the payment is reversed', async () => {
		const { id } = await newInvoice({ status: 'sent' })
		const { amountDueCents } = await app.client.invoices.get(id)
		await app.client.payments.create({ invoiceId: id, amountCents: amountDueCents + 5_000, method: 'Bank transfer' })
		const { page } = await sheetOf(id)
		await page.getByText(/50.00.* more, on no invoice/).waitFor()
		await page.getByRole('button', { name: 'Reverse the payment of' }).click()
		const dialog = page.getByRole('alertdialog')
		await dialog.getByLabel('Why').fill('Recorded twice')
		await dialog.getByRole('button', { name: 'Reverse the payment' }).click()
		await page.getByRole('button', { name: 'Mark paid', exact: true }).waitFor()
		expect(await app.client.invoices.get(id)).toMatchObject({ status: 'sent', amountDueCents })
		expect(await app.client.payments.list({ invoiceId: id })).toMatchObject({
			data: [{ status: 'reversed', reversalReason: 'Recorded twice' }],
		})
	})

	it('can be marked as paid when somebody called it paid and it owes something since', async () => {
		const { id } = await newInvoice({ status: 'sent' })
		const { amountDueCents } = await app.client.invoices.get(id)
		const { id: paymentId } = await app.client.payments.create({ invoiceId: id, amountCents: 100 })
		await app.client.invoices.update(id, { status: 'paid' })
		await app.client.payments.reverse(paymentId)
		expect(await app.client.invoices.get(id)).toMatchObject({ status: 'paid', amountDueCents: 100 })
		const { page } = await sheetOf(id)
		await page.getByRole('button', { name: 'Mark paid', exact: true }).click()
		await page.getByRole('dialog').getByRole('button', { name: 'Mark paid' }).click()
		await expect.poll(async () => (await app.client.invoices.get(id)).amountPaidCents).toBe(amountDueCents)
	})

	it('stands alone on paper', async () => {
		const { id } = await newInvoice()
		const { page, sheet } = await sheetOf(id)
		await page.emulateMedia({ media: 'print' })
		expect(await sheet.isVisible()).toBe(true)
		for (const other of [page.getByRole('navigation'), page.getByRole('button', { name: 'More' }), page.getByText('History')])
			expect(await other.first().isVisible()).toBe(false)
	})
})
