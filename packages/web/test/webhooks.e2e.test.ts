// A person's way through webhooks, with an endpoint of their own that answers as it is told.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('webhooks', () => {
	let app: App
	let status = 204
	const receiver = createServer(
		(_req, res) => void res.writeHead(status).end(status === 204 ? undefined : '{"reason":"not today"}'),
	)
	let hook = ''
	beforeAll(async () => {
		receiver.listen(0, '127.0.0.1')
		await once(receiver, 'listening')
		hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
		app = await startApp()
	})
	afterAll(async () => {
		await app?.close()
		receiver.close()
	})

	const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const choose = async (page: Page, action: string) => {
		await press(page, 'More')
		await page.getByRole('menuitem', { name: action }).click()
	}
	const newEndpoint = async (path: string) =>
		(await app.client.webhooks.endpoints.create({ url: `${hook}${path}`, eventTypes: ['company.*'] })).id

	it('a person makes an endpoint, keeps its secret, and sees a test arrive', async () => {
		status = 204
		const { page, complaints } = await app.openApp('/webhooks')
		await page.getByText('No endpoints yet').waitFor()
		await page.keyboard.press('n')
		await heading(page, 'New endpoint')
		await page.getByLabel('URL', { exact: true }).fill(`${hook}/mine`)
		await page.getByText('All events, also those of later versions').click()
		await press(page, 'Create endpoint')
		await page.locator('.field-error', { hasText: 'Fill this in' }).waitFor()
		await page.getByText('Company', { exact: true }).click()
		await page.getByText('company.created', { exact: true }).click()
		await press(page, 'Create endpoint')
		const dialog = page.getByRole('dialog', { name: 'The secret of the endpoint' })
		expect(await dialog.getByText(/^whsec_/).textContent()).toMatch(/^whsec_.{40,}$/)
		await press(page, 'I have saved it')
		await heading(page, /\/mine$/)
		expect((await app.client.webhooks.endpoints.list()).data[0]).toMatchObject({ eventTypes: ['company.created'] })
		await press(page, 'Send test')
		await heading(page, 'webhook.test')
		await page.getByText('Attempt 1').waitFor()
		await page.getByText('webhook-signature').waitFor()
		await page.getByText('"type": "webhook.test"').waitFor()
		expect(complaints).toEqual([])
	})

	it('what an endpoint refuses is shown with its answer, and goes again when the person says so', async () => {
		status = 500
		const id = await newEndpoint('/refusing')
		const delivery = await app.client.webhooks.endpoints.test(id)
		const { page } = await app.openApp(`/webhooks/deliveries/${delivery.id}`)
		await page.getByText('"reason": "not today"').waitFor()
		status = 204
		await press(page, 'Redeliver')
		await page.getByText('Attempt 2').waitFor()
		await page.locator('h1 + .badge', { hasText: 'Succeeded' }).waitFor()
		await page.getByRole('link', { name: 'Deliveries' }).first().click()
		await page.getByLabel('Status').selectOption('Cancelled')
		await page.getByText('No match').waitFor()
		expect(page.url()).toContain('status=cancelled')
		await page.getByRole('link', { name: 'Clear filters' }).click()
		await page.getByRole('link', { name: 'webhook.test' }).first().waitFor()
	})

	it('an endpoint is paused, resumed, changed, given another secret and deleted', async () => {
		const id = await newEndpoint('/kept')
		const { page } = await app.openApp(`/webhooks/endpoints/${id}`)
		await choose(page, 'Pause')
		await page.getByText('It is paused').waitFor()
		await press(page, 'Resume')
		await page.getByText('It is paused').waitFor({ state: 'detached' })
		await choose(page, 'Edit')
		await page.getByLabel('URL', { exact: true }).fill('ftp://acme.example')
		await press(page, 'Save')
		await page.locator('.field-error', { hasText: /http/ }).waitFor()
		await page.getByLabel('URL', { exact: true }).fill(`${hook}/changed`)
		await press(page, 'Save')
		await heading(page, /\/changed$/)
		await choose(page, 'Rotate the secret')
		await press(page, 'Rotate secret')
		await page
			.getByText(/^whsec_/)
			.first()
			.waitFor()
		await press(page, 'I have saved it')
		await choose(page, 'Delete')
		await press(page, 'Delete endpoint')
		await heading(page, 'Webhooks')
		await expect(app.client.webhooks.endpoints.get(id)).rejects.toThrow('endpoint_not_found')
	})

	it('types of events are found, with an example and their schema', async () => {
		const { page } = await app.openApp('/webhooks/event-types?search=invoice.paid')
		await page.getByRole('link', { name: 'invoice.paid' }).click()
		await heading(page, 'invoice.paid')
		await page.getByRole('heading', { name: 'JSON Schema' }).waitFor()
	})

	it('a manager reads and is offered nothing else', async () => {
		const id = await newEndpoint('/watched')
		const { page } = await app.openApp(`/webhooks/endpoints/${id}`, { person: await app.newPerson('manager') })
		await heading(page, /\/watched$/)
		expect(await page.getByRole('button', { name: /Send test|More/ }).count()).toBe(0)
	})

	it('what is typed into an endpoint comes back after a reload, and its secret headers are kept nowhere', async () => {
		const { page } = await app.openApp('/webhooks/new')
		await page.getByLabel('Description').fill('Half done')
		await press(page, 'Add a header')
		await page.getByLabel('Name', { exact: true }).fill('x-secret')
		await page.getByLabel('Value', { exact: true }).fill('open sesame')
		const kept = () => page.evaluate(() => JSON.stringify(sessionStorage))
		await expect.poll(kept).toContain('Half done')
		await page.getByLabel('Description').fill('Half done again')
		await expect.poll(kept).toContain('Half done again')
		expect(await kept()).not.toContain('open sesame')
		page.on('dialog', (dialog) => dialog.accept())
		await page.reload()
		await page.getByText(/^Unsaved changes from/).waitFor()
		expect(await page.getByLabel('Description').inputValue()).toBe('Half done again')
	})
})
