// What a page is before the server has answered, and when it answers with an error or has no such record: never empty, never a dead end.
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { addresses, fill, outside, recordsOf } from './addresses.ts'
import { type App, startApp } from './app.ts'

/** Of the frame around every page. */
const ofFrame = /\/api\/(session|organization)$/

const inside = addresses.filter((path) => !outside.includes(path))
/** Forms that need nothing of the server to begin with. */
const askNothing = [
	...['/companies/new', '/contacts/new', '/webhooks/new', '/connections/new', '/settings/pipelines/new'],
	// These ask for what is offered while a person types, and which box is checked first.
	...['/time/new', '/tax-rates/new'],
]

const problem = {
	type: 'about:blank',
	title: 'Out of order',
	status: 409,
	detail: 'It has failed.',
	code: 'failed',
	requestId: 'req_1',
}
const fail = (route: Route) => route.fulfill({ status: 409, contentType: 'application/problem+json', json: problem })

needs('chromium').describe('a page', () => {
	let app: App
	let ids: Readonly<Record<string, string>>
	let page: Page
	/** What is asked for, and not answered yet; undefined: all is answered. */
	let held: Route[] | undefined
	let answer = (route: Route) => route.fallback()
	beforeAll(async () => {
		app = await startApp()
		ids = await recordsOf(app)
		;({ page } = await app.openApp('/settings/account'))
		await page.route(
			({ origin, pathname }) => origin === app.url && !pathname.startsWith('/app') && !ofFrame.test(pathname),
			(route) => (held ? void held.push(route) : answer(route)),
		)
	})
	afterAll(() => app?.close())

	it.each(inside.filter((path) => !askNothing.includes(path)))(
		'%s says what it is and that it waits, then what has failed',
		async (path) => {
			const waiting: Route[] = []
			;[held, answer] = [waiting, fail]
			await page.goto(`${app.url}/app${fill(path, ids)}`)
			await expect.poll(() => waiting.length, { timeout: 15_000 }).toBeGreaterThan(0)
			// A form is there at once, and what it asks for comes into it.
			await page.locator('.skeleton, .board[role=status], form').first().waitFor()
			await page.getByRole('heading', { level: 1 }).waitFor({ timeout: 5_000 })
			held = undefined
			await Promise.all(waiting.map(fail))
			await page.getByRole('alert').getByText('Out of order').first().waitFor()
		},
	)

	it.each(inside.filter((path) => path.includes('$')))('%s says that there is no such record', async (path) => {
		answer = (route) => route.fallback()
		await page.goto(`${app.url}/app${path.replaceAll(/\$\w+/g, 'none_0000000000000000')}`)
		const sentence = page.getByText(/It is not there|There is no such/)
		await sentence.first().waitFor()
	})
})
