// Every address of routes.ts, on a phone and a desktop, light and dark: nobody is kept out, nothing is reported, nothing scrolls
// sideways. The screenshots are for people to look at: the folder is printed when WALK_FOLDER names none.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pagesIn } from '../budget.ts'
import { type App, hasBrowser, type Opened, startApp } from './app.ts'

const folder = process.env.WALK_FOLDER

const addresses = pagesIn(readFileSync(join(import.meta.dirname, '../src/routes.ts'), 'utf8')).map(({ path }) => path)
/** Of whoever has not signed in. */
const outside = ['/sign-in', '/setup', '/invite', '/reset']
const widths = [390, 1280]

describe.skipIf(!hasBrowser)('every address', () => {
	let app: App
	/** A record of each kind, for the addresses that name one. */
	const ids: Record<string, string> = {}
	beforeAll(async () => {
		app = await startApp()
		const { companies, contacts, timeEntries, taxRates } = app.client
		ids.companies = (await companies.list({ limit: 1 })).data[0]?.id as string
		ids.contacts = (await contacts.list({ limit: 1 })).data[0]?.id as string
		ids.pipelines = (await app.client.pipelines.list({ limit: 1 })).data[0]?.id as string
		ids['tax-rates'] = (await taxRates.list({ limit: 1 })).data[0]?.id as string
		// Of the deal that has time.
		const [entry] = (await timeEntries.list({ limit: 1, status: 'open' })).data
		ids.time = entry?.id as string
		ids.deals = entry?.dealId as string
		await addWebhooks(app, ids)
		await findSync(app, ids)
		ids.invoices = (await app.client.invoices.list({ status: ['sent'], limit: 1 })).data[0]?.id as string
		if (folder) mkdirSync(folder, { recursive: true })
	})
	afterAll(() => app?.close())

	const fill = (path: string) => path.replaceAll(/\/([\w-]+)\/\$\w+/g, (_, kind: string) => `/${kind}/${ids[kind]}`)

	it.each(addresses.flatMap((path) => widths.map((width) => ({ path, width }))))(
		'$path at $width px, light and dark, is for everybody and reports nothing',
		async ({ path, width }) => {
			const person = outside.includes(path) ? null : undefined
			const opened = await app.openApp(fill(path), { person, viewport: { width, height: 844 }, colorScheme: 'light' })
			const { page, complaints } = opened
			await page.waitForLoadState('networkidle')
			// On a busy machine the network is idle before the page has all of its answers.
			await expect.poll(() => page.locator('.skeleton').count(), { timeout: 15_000 }).toBe(0)
			await expect.poll(() => page.getByRole('heading', { level: 1 }).count(), { timeout: 15_000 }).toBe(1)
			expect(await page.title()).toMatch(/. · Remit$/)
			// A page follows the system while it is open: to load it again for the other colours would double the time.
			for (const colorScheme of ['light', 'dark'] as const) {
				await page.emulateMedia({ colorScheme })
				if (folder)
					await page.screenshot({ path: join(folder, `${path.replaceAll(/[/$]+/g, '-').slice(1)}-${width}-${colorScheme}.png`) })
				expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
				expect(await violations(opened)).toEqual([])
			}
			expect(complaints).toEqual([])
			await page.context().close()
		},
	)
})

/** An endpoint that nobody answers at, and a delivery to it. */
async function addWebhooks({ client, url }: App, ids: Record<string, string>): Promise<void> {
	ids.endpoints = (
		await client.webhooks.endpoints.create({ url: `${url}/nobody`, eventTypes: ['invoice.*', 'company.created'] })
	).id
	ids.deliveries = (await client.webhooks.endpoints.test(ids.endpoints)).id
	ids['event-types'] = 'invoice-paid'
}

/** The demo's sync, and its first run. */
async function findSync({ client }: App, ids: Record<string, string>): Promise<void> {
	const [sync] = (await client.syncs.list({ limit: 1 })).data
	Object.assign(ids, { syncs: sync?.id, runs: sync?.lastRun?.id, connections: sync?.connectionId, mappings: sync?.mappingId })
}

/** What axe-core finds. It runs in a world of its own, which the page's policy does not concern. */
async function violations({ page }: Opened): Promise<string[]> {
	const session = await page.context().newCDPSession(page)
	const { frameTree } = await session.send('Page.getFrameTree')
	const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
	await session.send('Runtime.evaluate', { expression: axe.source, contextId })
	const expression = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
		nodes.map(({ target, any }) => id + ': ' + target.join(' ') + ' ' + any.map(({ message }) => message).join(' '))))`
	const { result } = await session.send('Runtime.evaluate', { expression, contextId, awaitPromise: true, returnByValue: true })
	return result.value
}
