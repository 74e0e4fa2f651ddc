// The API reference in Chromium, against the real server on SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { launchBrowser } from '../../../test/browser.ts'
import { needs } from '../../../test/needs.ts'
import { Remit, type Served } from '../../../test/remit.ts'
import { operations } from '../../platform/contract/routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-docs-'))
const remit = new Remit({ NODE_ENV: 'development', DATA_DIR: folder }, folder)

// Swagger UI takes seconds of processor time to read the contract.
vi.setConfig({ testTimeout: 60_000 })

needs('chromium').describe('in a browser', () => {
	let browser: Browser
	let served: Served
	beforeAll(async () => {
		served = await remit.serve({}, ['--demo'])
		browser = await launchBrowser()
	})
	afterAll(async () => {
		await browser?.close()
		await served?.end('SIGTERM')
		remit.stop()
		rmSync(folder, { recursive: true })
	})

	// Each page that is left open goes on taking processor time.
	afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))

	/** The reference in a browser that has a cookie as a session has one; and what the page did that it must not do. */
	async function open(end = '', width = 1280): Promise<{ page: Page; complaints: string[] }> {
		const context = await browser.newContext({ viewport: { width, height: 1000 } })
		await context.addCookies([{ name: 'remit', value: 'session', url: served.url, httpOnly: true, sameSite: 'Strict' }])
		// Below a test's own limit, so that a wait in vain says for what.
		context.setDefaultTimeout(50_000)
		const page = await context.newPage()
		const complaints: string[] = []
		// A breach of the page's policy is a message too.
		page.on('console', (message) => complaints.push(message.text()))
		page.on('pageerror', (error) => complaints.push(error.message))
		page.on('requestfailed', (request) => complaints.push(request.url()))
		page.on('request', (request) => {
			if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(served.url)) complaints.push(request.url())
		})
		await page.goto(`${served.url}/docs${end}`)
		await page.locator('.opblock').first().waitFor()
		return { page, complaints }
	}

	/** Sends the open operation's request; returns the status that the page shows. */
	async function execute(page: Page): Promise<string> {
		const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/companies')
		await page.getByRole('button', { name: 'Execute' }).click()
		const request = (await answered).request()
		expect(await request.allHeaders()).not.toHaveProperty('cookie')
		const status = String((await answered).status())
		await page.locator('.live-responses-table .response-col_status', { hasText: status }).waitFor()
		return status
	}

	it('lists every operation of the contract, whatever document its address names', async () => {
		const { page, complaints } = await open('?url=https://elsewhere.example/a.json&configUrl=https://elsewhere.example/b.json')
		const listed = new Set<string>()
		// Only what is in view is in the page.
		const look = async () => {
			for (const id of await page.locator('.opblock-summary-operation-id').allTextContents()) listed.add(id)
			await page.mouse.wheel(0, 700)
			return operations.filter(({ id }) => !listed.has(id)).map(({ id }) => id)
		}
		await page.mouse.move(600, 500)
		await expect.poll(look, { timeout: 25_000, interval: 50 }).toEqual([])
		expect(complaints).toEqual([])
	})

	it('shows how an operation is called with the SDK and with curl, on a phone too', async () => {
		const { page, complaints } = await open('#/Companies/companies.create', 390)
		const calls = page.locator('.opblock.is-open .opblock-description pre')
		await expect
			.poll(() => calls.allTextContents(), { timeout: 10_000 })
			.toEqual([
				"await remit.companies.create({ name: 'Acme GmbH', domain: 'acme.example', billingEmail: 'billing@acme.example' })\n",
				expect.stringMatching(`^curl -X POST "${served.url}/api/companies" \\\\\n`),
			])
		expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
		expect(complaints).toEqual([])
	})

	it('sends what is tried with the key that was entered, and without one as nobody, whoever is signed in', async () => {
		const { page, complaints } = await open('#/Companies/companies.list')
		await page.getByRole('button', { name: 'Try it out' }).click()
		expect(await execute(page)).toBe('401')
		expect(complaints.splice(0)).toEqual([expect.stringContaining('401')])
		await page.locator('.opblock.is-open .authorization__btn').click()
		const dialog = page.locator('.dialog-ux')
		await dialog
			.locator('input')
			.first()
			.fill(served.key as string)
		await dialog.getByRole('button', { name: 'Apply credentials' }).first().click()
		await dialog.getByRole('button', { name: 'Close' }).first().click()
		expect(await execute(page)).toBe('200')
		expect(complaints).toEqual([])
	})

	/** What axe-core calls critical or serious. */
	async function barriers(page: Page): Promise<string[]> {
		await page.evaluate(axe.source)
		const { violations } = await page.evaluate<axe.AxeResults>('axe.run({ resultTypes: ["violations"] })')
		return violations
			.filter(({ impact }) => impact === 'critical' || impact === 'serious')
			.flatMap(({ id, nodes }) =>
				nodes.map(({ target, any }) => `${id}: ${target.join(' ')} ${any.map(({ message }) => message)}`),
			)
	}

	it('keeps nobody out who reads or uses it by other means', async () => {
		const { page } = await open('#/Companies/companies.list')
		await page.getByRole('button', { name: 'Try it out' }).click()
		await execute(page)
		expect(await barriers(page)).toEqual([])
		await page.locator('.opblock.is-open .authorization__btn').click()
		await page.locator('.dialog-ux').waitFor()
		expect(await barriers(page)).toEqual([])
	})

	it('keeps nobody out who writes a body', async () => {
		const { page } = await open('#/Companies/companies.create')
		await page.getByRole('button', { name: 'Try it out' }).click()
		await page.locator('.opblock.is-open textarea').first().waitFor()
		expect(await barriers(page)).toEqual([])
	})
})
