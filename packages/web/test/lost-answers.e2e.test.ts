// What a person presses again after an answer was lost, and what a field has not understood.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

needs('chromium').describe('a payment', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	const owed = async () => {
		const { id } = await app.client.invoices.create({ totalCents: 50_000, currency: 'EUR', status: 'sent' })
		const { page } = await app.openApp(`/invoices/${id}`)
		await press(page, 'Mark paid')
		await field(page, 'Amount').waitFor()
		return { id, page }
	}
	const paymentsOf = async (invoiceId: string) =>
		(await app.client.payments.list({ invoiceId })).data.map(({ amountCents }) => amountCents)
	const loseOneAnswer = (page: Page) =>
		page.route(
			'**/api/payments',
			async (route) => {
				await route.fetch()
				await route.abort()
			},
			{ times: 1 },
		)

	it('whose amount is not understood is not recorded', async () => {
		const { id, page } = await owed()
		await field(page, 'Amount').fill('1.234')
		await page.getByText('Enter an amount such as').waitFor()
		expect(
			await page
				.getByRole('dialog')
				.getByRole('button', { name: /paid|payment/i })
				.isDisabled(),
		).toBe(true)
		await field(page, 'Amount').press('Enter')
		await field(page, 'Amount').fill('12.34')
		await press(page, 'Record part payment')
		await page.getByText('A part of').waitFor()
		expect(await paymentsOf(id)).toEqual([1_234])
	})

	it('is recorded once when its answer was lost and it is sent again', async () => {
		const { id, page } = await owed()
		await loseOneAnswer(page)
		await field(page, 'Amount').fill('100')
		await press(page, 'Record part payment')
		await page.getByText('Remit cannot be reached').waitFor()
		await press(page, 'Record part payment')
		await page.getByText('A part of').waitFor()
		expect(await paymentsOf(id)).toEqual([10_000])
	})

	it('is recorded once when its answer was lost and other details are sent, until the person has looked', async () => {
		const { id, page } = await owed()
		await loseOneAnswer(page)
		await field(page, 'Amount').fill('100')
		await press(page, 'Record part payment')
		await page.getByText('Remit cannot be reached').waitFor()
		await field(page, 'Reference').fill('transfer 7')
		for (let time = 0; time < 2; time++) {
			await press(page, 'Record part payment')
			await page.getByText('It may be done already').waitFor()
		}
		expect(await paymentsOf(id)).toEqual([10_000])
		await press(page, 'Cancel')
		// The page behind has read it meanwhile.
		await page.getByText('€400.00').first().waitFor()
	})

	it('of a deal’s rate that is not understood saves nothing', async () => {
		const { id } = await app.client.deals.create({ name: 'Rated', currency: 'EUR', hourlyRateCents: 5_000 })
		const { page } = await app.openApp(`/deals/${id}/edit`)
		await field(page, 'Hourly rate').fill('1.234')
		await press(page, 'Save')
		await page.getByText('Enter an amount such as').waitFor()
		expect((await app.client.deals.get(id)).hourlyRateCents).toBe(5_000)
		await field(page, 'Hourly rate').fill('12.34')
		await press(page, 'Save')
		await page.getByRole('heading', { level: 1, name: 'Rated', exact: true }).waitFor()
		expect((await app.client.deals.get(id)).hourlyRateCents).toBe(1_234)
	})
})
