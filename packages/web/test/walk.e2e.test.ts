// Every address of routes.ts, on a phone and a desktop, light and dark: nobody is kept out, nothing is reported, nothing scrolls
// sideways. The screenshots are for people to look at: the folder is printed when WALK_FOLDER names none.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { addresses, fill, outside, recordsOf } from './addresses.ts'
import { type App, type Opened, startApp } from './app.ts'

const folder = process.env.WALK_FOLDER

const widths = [390, 1280]

needs('chromium').describe('every address', () => {
	let app: App
	let ids: Readonly<Record<string, string>>
	beforeAll(async () => {
		app = await startApp()
		ids = await recordsOf(app)
		if (folder) mkdirSync(folder, { recursive: true })
	})
	afterAll(() => app?.close())

	// Both widths at once: a page waits half a second to see that the network is idle.
	it.each(addresses)('%s on a phone and a desktop, light and dark, is for everybody and reports nothing', async (path) => {
		await Promise.all(widths.map((width) => look(path, width)))
	})

	async function look(path: string, width: number): Promise<void> {
		const { page, complaints } = await open(path, width)
		const at = `at ${width} px`
		await page.waitForLoadState('networkidle')
		// On a busy machine the network is idle before the page has all of its answers.
		await expect.poll(() => page.locator('.skeleton').count(), { timeout: 15_000, message: at }).toBe(0)
		await expect.poll(() => page.getByRole('heading', { level: 1 }).count(), { timeout: 15_000, message: at }).toBe(1)
		expect(await page.title(), at).toMatch(/. · Remit$/)
		const violations = await loadAxe(page)
		// A page follows the system while it is open: to load it again for the other colours would double the time.
		for (const colorScheme of ['light', 'dark'] as const) {
			await page.emulateMedia({ colorScheme })
			if (folder)
				await page.screenshot({ path: join(folder, `${path.replaceAll(/[/$]+/g, '-').slice(1)}-${width}-${colorScheme}.png`) })
			expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), at).toBeLessThanOrEqual(0)
			expect(await violations(colorScheme === 'light' ? undefined : ofColors), at).toEqual([])
		}
		expect(complaints, at).toEqual([])
	}

	/** By width one page goes to all addresses inside, and one to those outside: a new browser context compiles the application and axe-core anew. */
	const pages = new Map<string, Opened>()
	async function open(path: string, width: number): Promise<Opened> {
		const isOutside = outside.includes(path)
		const kind = `${width} ${isOutside}`
		const opened = pages.get(kind)
		if (!opened) {
			const options = { viewport: { width, height: 844 }, colorScheme: 'light', ...(isOutside && { person: null }) } as const
			const first = await app.openApp(fill(path, ids), options)
			pages.set(kind, first)
			return first
		}
		const { page, complaints } = opened
		complaints.length = 0
		await page.emulateMedia({ colorScheme: 'light' })
		await page.goto(`${app.url}/app${fill(path, ids)}`)
		await page.getByRole('heading', { level: 1 }).waitFor()
		return opened
	}
})

/** Only colors depend on the scheme: the other rules have just looked at the same elements. */
const ofColors = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } as const

/** Loads axe-core, and finds what it reports by these rules, or by all. It runs in a world of its own, which the page's policy does not concern. */
async function loadAxe(page: Page): Promise<(runOnly?: typeof ofColors) => Promise<string[]>> {
	const session = await page.context().newCDPSession(page)
	const { frameTree } = await session.send('Page.getFrameTree')
	const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
	await session.send('Runtime.evaluate', { expression: axe.source, contextId })
	return async (runOnly) => {
		const options = JSON.stringify({ resultTypes: ['violations'], runOnly })
		const expression = `axe.run(document, ${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
			nodes.map(({ target, any }) => id + ': ' + target.join(' ') + ' ' + any.map(({ message }) => message).join(' '))))`
		const { result } = await session.send('Runtime.evaluate', { expression, contextId, awaitPromise: true, returnByValue: true })
		return result.value
	}
}
