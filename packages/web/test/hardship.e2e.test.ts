// Pages whose API is slow, whose connection is lost, or whose person may no longer do what they began.
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

const ofApi = /\/(api|webhooks|syncs|connections|mappings)(\/|\?|$)/

needs('chromium').describe('hardship', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	/** Holds the answers of the API back for two seconds each, and counts the requests that write. */
	async function slowDown(page: Page): Promise<{ readonly writes: number }> {
		const counts = { writes: 0 }
		await page.route(ofApi, async (route) => {
			if (route.request().url().includes('/app/')) return route.continue()
			if (route.request().method() !== 'GET') counts.writes++
			const answer = await route.fetch()
			setTimeout(() => void route.fulfill({ response: answer }).catch(() => {}), 2_000)
		})
		return counts
	}

	it('an API that does not answer yet holds up nobody who goes on to another page', async () => {
		const { page, complaints } = await app.openApp('/')
		const held: Route[] = []
		let isHeld = true
		await page.route(ofApi, (route) =>
			isHeld && !route.request().url().includes('/app/') ? void held.push(route) : route.continue(),
		)
		const places = page.getByRole('navigation', { name: 'Main' })
		for (const name of ['Invoices', 'Companies', 'Contacts', 'Deals', 'Time', 'Tax rates', 'Syncs', 'Webhooks']) {
			await places.getByRole('link', { name, exact: true }).click()
			// The page itself, before any of its data.
			await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
		}
		await places.getByRole('link', { name: 'Companies', exact: true }).click()
		isHeld = false
		// Those of the pages that were left are no longer wanted.
		await Promise.all(held.map((route) => route.continue().catch(() => {})))
		await page.getByRole('link', { name: 'Acme GmbH' }).waitFor()
		expect(complaints).toEqual([])
	})

	it('what is saved twice while the answer is on its way is sent once', async () => {
		const { page } = await app.openApp('/companies/new')
		await field(page, 'Name').fill('Slow and Sons')
		const counts = await slowDown(page)
		await button(page, 'Create company').click()
		await page.keyboard.press('Control+s')
		await heading(page, 'Slow and Sons')
		expect(counts.writes).toBe(1)
		expect((await app.client.companies.list({ search: 'Slow and Sons' })).data).toHaveLength(1)
	})

	it('what is saved without a connection stays in the form, and is sent once when the connection is back', async () => {
		const { page } = await app.openApp('/companies/new')
		await field(page, 'Name').fill('Offline Ltd')
		await page.context().setOffline(true)
		await page.getByText(/^No connection/).waitFor()
		await button(page, 'Create company').click()
		expect(await field(page, 'Name').inputValue()).toBe('Offline Ltd')
		expect((await app.client.companies.list({ search: 'Offline Ltd' })).data).toEqual([])
		await page.context().setOffline(false)
		await heading(page, 'Offline Ltd')
		expect((await app.client.companies.list({ search: 'Offline Ltd' })).data).toHaveLength(1)
	})

	it('whoever loses a role in the middle of a form is told so, loses nothing, and is offered it no more', async () => {
		const person = await app.newPerson('manager')
		const { page } = await app.openApp('/tax-rates/new', { person })
		await field(page, 'Name').fill('Reduced')
		await field(page, 'Percent').fill('7')
		const { data: people } = await app.client.users.list()
		const { id } = people.find(({ email }) => email === person.email) as { id: string }
		await app.client.users.update(id, { role: 'member' })
		await button(page, 'Create tax rate').click()
		await page.getByText('You may not do this').waitFor()
		expect(await field(page, 'Name').inputValue()).toBe('Reduced')
		await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tax rates', exact: true }).click()
		await button(page, 'Discard changes').click()
		await heading(page, 'Tax rates')
		await expect.poll(() => page.getByRole('link', { name: 'New tax rate' }).count()).toBe(0)
	})
})
