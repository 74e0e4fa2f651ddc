// Two presses within 30 ms are one: the page has not shown yet that the first one is under way, or its answer has just come.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('two presses', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	/** Presses at once, and once more 20 ms later; returns the writes that were sent until the page has answered. */
	async function pressTwice(page: Page, name: string, isDone: () => Promise<unknown>) {
		const writes: string[] = []
		page.on(
			'request',
			(request) => request.method() === 'GET' || writes.push(`${request.method()} ${new URL(request.url()).pathname}`),
		)
		await expect.poll(() => page.getByRole('button', { name, exact: true }).last().isEnabled()).toBe(true)
		await page.evaluate(`(async () => {
			const button = [...document.querySelectorAll('button')].findLast((one) => one.textContent === ${JSON.stringify(name)})
			button.click()
			button.click()
			await new Promise((go) => setTimeout(go, 20))
			button.click()
		})()`)
		await isDone()
		expect(await page.locator('.error-panel').allTextContents()).toEqual([])
		return writes
	}
	const draft = async () => {
		const { id: companyId } = await app.client.companies.create({ name: 'Acme', billingEmail: 'office@acme.example' })
		return app.client.invoices.create({ companyId, lineItems: [{ description: 'Work', quantity: '1', unitPriceCents: 1000 }] })
	}

	it('of Save make one record', async () => {
		const { page } = await app.openApp('/companies/new')
		await page.getByLabel('Name', { exact: true }).fill('Twice Ltd')
		const writes = await pressTwice(page, 'Create company', () =>
			page.getByRole('heading', { level: 1, name: 'Twice Ltd' }).waitFor(),
		)
		expect(writes).toEqual(['POST /api/companies'])
	})

	it('of Send send one e-mail', async () => {
		const { id, invoiceNumber } = await draft()
		const { page } = await app.openApp(`/invoices/${id}?send=true`)
		const writes = await pressTwice(page, `Send ${invoiceNumber}`, () => page.getByRole('dialog').waitFor({ state: 'detached' }))
		expect(writes).toEqual([`POST /api/invoices/${id}/send`])
	})

	it('of Delete delete once, and nothing is said to be missing', async () => {
		const { id } = await app.client.companies.create({ name: 'Gone Ltd' })
		const { page } = await app.openApp(`/companies/${id}`)
		await page.getByRole('button', { name: 'More' }).click()
		await page.getByRole('menuitem', { name: 'Delete' }).click()
		const writes = await pressTwice(page, 'Delete Gone Ltd', () =>
			page.getByRole('heading', { level: 1, name: 'Companies' }).waitFor(),
		)
		expect(writes).toEqual([`DELETE /api/companies/${id}`])
	})

	it('of Undo on the board take a move back once', async () => {
		const { id } = await app.client.deals.create({ name: 'Moved twice' })
		const { page } = await app.openApp('/deals?search=moved')
		await page.getByRole('button', { name: 'Move Moved twice to' }).click()
		await page.getByRole('menuitem', { name: 'Won', exact: true }).click()
		const back = () => page.getByRole('region', { name: 'Lead', exact: true }).getByText('Moved twice').waitFor()
		expect(await pressTwice(page, 'Undo', back)).toEqual([`PATCH /api/deals/${id}`])
		expect((await app.client.deals.get(id)).stage).toBe('lead')
	})

	it('of Mark paid record one payment', async () => {
		const { id } = await draft()
		await app.client.invoices.update(id, { status: 'sent' })
		const { page } = await app.openApp(`/invoices/${id}`)
		await page.getByRole('button', { name: 'Mark paid', exact: true }).click()
		await page.getByRole('dialog').getByRole('button', { name: 'Mark paid' }).waitFor()
		const writes = await pressTwice(page, 'Mark paid', () => page.getByRole('dialog').waitFor({ state: 'detached' }))
		expect(writes).toEqual(['POST /api/payments'])
	})
})
