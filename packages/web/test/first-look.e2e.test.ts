// What a person sees first: on a phone, and when a search cannot be answered.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const problem = { type: 'about:blank', title: 'Out of order', status: 409, code: 'failed', requestId: 'req_1' }
const refused = { status: 409, contentType: 'application/problem+json', json: problem }

needs('chromium').describe('at first look', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	it('a search of clients that fails is no “No match”', async () => {
		const { page } = await app.openApp('/invoices/new')
		await page.route(/\/api\/companies\?/, (route) => route.fulfill(refused))
		await page.getByRole('combobox', { name: 'Client' }).fill('acme')
		await page.getByText('The search has failed').waitFor()
		expect(await page.getByText('No match').count()).toBe(0)
	})

	it('a search of everything that fails says so, beside the places it knows', async () => {
		const { page } = await app.openApp('/companies')
		await page.route(/\/api\/search\?/, (route) => route.fulfill(refused))
		await page.keyboard.press('Control+k')
		await page.getByRole('combobox', { name: 'Search everything' }).fill('tax')
		await page.getByText('The search has failed').waitFor()
		await page.getByRole('option', { name: 'Tax rates' }).waitFor()
		await page.getByRole('combobox', { name: 'Search everything' }).fill('quixotic')
		await page.getByText('The search has failed').waitFor()
		expect(await page.getByText('Nothing is called that').count()).toBe(0)
	})

	it('the board opens at its first stage, although only a later one has deals, on a phone', async () => {
		const stages = ['Asked', 'Heard', 'Offered', 'Won'].map((label) => ({
			key: label.toLowerCase(),
			label,
			type: 'open' as const,
		}))
		const pipeline = await app.client.pipelines.create({ name: 'Late', stages })
		await app.client.deals.create({ name: 'Third stage', pipelineId: pipeline.id, stage: 'offered' })
		const { page } = await app.openApp(`/deals?pipeline=${pipeline.id}`, phone)
		await page.getByRole('link', { name: 'Third stage' }).waitFor()
		const { x = 0, width = 0 } = (await page.getByRole('heading', { name: 'Asked' }).boundingBox()) ?? {}
		expect(x).toBeGreaterThan(0)
		expect(x + width).toBeLessThan(phone.viewport.width)
	})

	it('the days of a week stand in one line, on a phone', async () => {
		for (const week of ['2026-08-31', '2026-12-28']) {
			const { page } = await app.openApp(`/time?week=${week}`, phone)
			expect((await page.locator('.week-range').boundingBox())?.height).toBeLessThan(30)
		}
	})
})
