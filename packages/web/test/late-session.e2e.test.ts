// A page whose own data arrives before the session does.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

/** Notes on the document that its heading was shown, and then was not. */
const marksWhatIsTaken = `() => {
	let wasShown = false
	const observer = new MutationObserver(() => {
		const isShown = document.querySelector('main h1')?.checkVisibility() ?? false
		wasShown ||= isShown
		if (isShown || !wasShown) return
		document.documentElement.dataset.taken = 'yes'
		observer.disconnect()
	})
	observer.observe(document, { subtree: true, childList: true, attributes: true })
}`

needs('chromium').describe('a page whose session comes late', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	it.each(['/companies', '/tax-rates', '/webhooks'])('%s stays once it is shown', async (path) => {
		const { page } = await app.openApp(path)
		await page.addInitScript(`(${marksWhatIsTaken})()`)
		await page.route('**/api/session', async (route) => {
			await new Promise((resolve) => setTimeout(resolve, 1_500))
			await route.continue()
		})
		await page.reload()
		await page.getByRole('heading', { level: 1 }).waitFor()
		await page.waitForLoadState('networkidle')
		expect(await page.evaluate('document.documentElement.dataset.taken')).toBeUndefined()
	})
})
