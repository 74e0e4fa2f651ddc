// What is done with many invoices at once, and forms of a person who may read them alone.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('bulk', () => {
	let app: App
	let companyId: string
	beforeAll(async () => {
		app = await startApp()
		companyId = (await app.client.companies.create({ name: 'Bulk Ltd' })).id
		for (let n = 0; n < 130; n++)
			await app.client.invoices.create({
				companyId,
				currency: n === 0 ? 'USD' : 'EUR',
				lineItems: [{ description: 'One', unitPriceCents: 100 }],
			})
	})
	afterAll(() => app?.close())

	it('the box of the head selects all of the filter, also what is not read yet', async () => {
		const { page } = await app.openApp(`/invoices?company=${companyId}`)
		await page.getByRole('checkbox', { name: 'Select all invoices' }).check()
		await page.getByText('130 selected').waitFor()
		await page.getByRole('checkbox').nth(1).uncheck()
		await page.getByText('129 selected').waitFor()
	})

	it('Mark paid says the sum by currency, and asks when and how', async () => {
		const { data } = await app.client.invoices.list({ companyId, limit: 2, sortBy: 'createdAt', sortOrder: 'asc' })
		const { page } = await app.openApp(`/invoices?company=${companyId}`)
		await page.getByRole('checkbox', { name: 'Select all invoices' }).check()
		await page.getByText('130 selected').waitFor()
		await page.getByRole('button', { name: 'Mark paid', exact: true }).click()
		const dialog = page.getByRole('alertdialog')
		await dialog.getByText(/129.00.*\+.*1.00|1.00.*\+.*129.00/).waitFor()
		await dialog.getByLabel('Paid on').fill('2026-11-03')
		await dialog.getByLabel('How').fill('Cheque')
		await dialog.getByRole('button', { name: 'Mark 130 invoices as paid' }).click()
		await page.getByText('130 invoices were marked as paid').waitFor({ timeout: 60_000 })
		const paid = await app.client.invoices.get(data[0]?.id as string)
		expect(paid).toMatchObject({ status: 'paid', paymentMethod: 'Cheque' })
		expect(new Date(paid.paidDate as number).toISOString().slice(0, 10)).toMatch(/^2026-11-0[23]$/)
	})

	it('Mark paid goes by what is owed, and leaves out what has no client', async () => {
		const { id: grebe } = await app.client.companies.create({ name: 'Grebe' })
		const lineItems = [{ description: 'One', unitPriceCents: 1_000 }]
		const raised = await app.client.invoices.create({ companyId: grebe, lineItems, status: 'paid' })
		await app.client.invoices.update(raised.id, { lineItems: [{ description: 'One', unitPriceCents: 5_000 }] })
		await app.client.invoices.create({ companyId: grebe, lineItems, status: 'paid' })
		const loose = await app.client.invoices.create({ paymentReference: 'Grebe', lineItems })
		const { page } = await app.openApp('/invoices?search=grebe')
		await page.getByRole('checkbox', { name: 'Select all invoices' }).check()
		await page.getByText('3 selected').waitFor()
		await page.getByRole('button', { name: 'Mark paid', exact: true }).click()
		const dialog = page.getByRole('alertdialog')
		await dialog.getByText(/In all .*40.00/).waitFor()
		await dialog.getByText(`${loose.invoiceNumber} It has no client.`).waitFor()
		await dialog.getByRole('button', { name: 'Mark 1 invoice as paid' }).click()
		await page.getByText('1 invoice was marked as paid').waitFor()
		expect(await app.client.invoices.get(raised.id)).toMatchObject({ amountDueCents: 0, paymentState: 'paid' })
	})

	it('a search that finds nothing says that nothing matches', async () => {
		const { page } = await app.openApp('/companies?search=%25')
		await page.getByText('No company matches “%”.').waitFor()
	})

	it('where a role may not create a record, it reads who may, without a form', async () => {
		const person = await app.newPerson('member')
		for (const [path, reason] of [
			['/tax-rates/new', 'Only a manager or an admin can create one'],
			['/syncs/new', 'Only a manager or an admin can create one'],
			['/mappings/new', 'Only a manager or an admin can create one'],
			['/webhooks/new', 'Only an admin can create one'],
			['/connections/new', 'Only an admin can create one'],
			['/webhooks', 'This is for managers and admins'],
			['/webhooks/deliveries', 'This is for managers and admins'],
		] as const) {
			const { page, complaints } = await app.openApp(path, { person })
			await expect.poll(() => page.locator('main').textContent(), { message: path }).toContain(reason)
			await page.waitForLoadState('networkidle')
			expect(complaints, path).toEqual([])
			expect(await page.locator('main form, main button, main .error-panel').count(), path).toBe(0)
		}
	})
})
