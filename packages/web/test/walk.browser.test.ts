// Every address of routes.ts, on a phone and a desktop, light and dark: nobody is kept out, nothing is reported, nothing scrolls
// sideways. The screenshots are for people to look at: the folder is printed when WALK_FOLDER names none.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../../server/test/browser.ts'
import { addresses, fill, outside, recordsOf } from './addresses.ts'
import { type App, type Opened, startApp } from './app.ts'

const folder = process.env.WALK_FOLDER

const widths = [390, 1280]

describe.skipIf(!hasBrowser)('every address', () => {
	let app: App
	let ids: Readonly<Record<string, string>>
	beforeAll(async () => {
		app = await startApp()
		ids = await recordsOf(app)
		if (folder) mkdirSync(folder, { recursive: true })
	})
	afterAll(() => app?.close())

	it.each(addresses.flatMap((path) => widths.map((width) => ({ path, width }))))(
		'$path at $width px, light and dark, is for everybody and reports nothing',
		async ({ path, width }) => {
			const opened = await open(path, width)
			const { page, complaints } = opened
			await page.waitForLoadState('networkidle')
			// On a busy machine the network is idle before the page has all of its answers.
			await expect.poll(() => page.locator('.skeleton').count(), { timeout: 15_000 }).toBe(0)
			await expect.poll(() => page.getByRole('heading', { level: 1 }).count(), { timeout: 15_000 }).toBe(1)
			expect(await page.title()).toMatch(/. · Remit$/)
			const violations = await loadAxe(opened)
			// A page follows the system while it is open: to load it again for the other colours would double the time.
			for (const colorScheme of ['light', 'dark'] as const) {
				await page.emulateMedia({ colorScheme })
				if (folder)
					await page.screenshot({ path: join(folder, `${path.replaceAll(/[/$]+/g, '-').slice(1)}-${width}-${colorScheme}.png`) })
				expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
				expect(await violations(colorScheme === 'light' ? undefined : ofColors)).toEqual([])
			}
			expect(complaints).toEqual([])
		},
	)

	/** One page goes to all addresses inside, and one to those outside: a new browser context compiles the application and axe-core anew. */
	const pages = new Map<boolean, Opened>()
	async function open(path: string, width: number): Promise<Opened> {
		const isOutside = outside.includes(path)
		const viewport = { width, height: 844 }
		const opened = pages.get(isOutside)
		if (!opened) {
			const first = await app.openApp(fill(path, ids), { viewport, colorScheme: 'light', ...(isOutside && { person: null }) })
			pages.set(isOutside, first)
			return first
		}
		const { page, complaints } = opened
		complaints.length = 0
		await page.emulateMedia({ colorScheme: 'light' })
		await page.setViewportSize(viewport)
		await page.goto(`${app.url}/app${fill(path, ids)}`)
		await page.getByRole('heading', { level: 1 }).waitFor()
		return opened
	}
})

/** Only colors depend on the scheme: the other rules have just looked at the same elements. */
const ofColors = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } as const

/** Loads axe-core, and finds what it reports by these rules, or by all. It runs in a world of its own, which the page's policy does not concern. */
async function loadAxe({ page }: Opened): Promise<(runOnly?: typeof ofColors) => Promise<string[]>> {
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
