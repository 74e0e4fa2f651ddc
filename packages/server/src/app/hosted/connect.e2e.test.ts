// A person's way from a link to a connected account in Chromium, with its own idea of cookies, forms and redirects, against the real server on SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchBrowser } from '../../../test/browser.ts'
import { secret } from '../../../test/leaks.ts'
import { needs } from '../../../test/needs.ts'
import { OAuthServer } from '../../../test/oauth-server.ts'
import { Remit, type Served } from '../../../test/remit.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-connect-'))
const remit = new Remit({ NODE_ENV: 'development', DATA_DIR: folder, EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, folder)

needs('chromium').describe('in a browser', () => {
	let browser: Browser
	let served: Served
	let client: Client
	const hubspot = new FakeHubSpot()
	const oauth = new OAuthServer()
	beforeAll(async () => {
		await Promise.all([hubspot.start(), oauth.start()])
		served = await remit.serve({ ...hubspot.settings, ...oauth.settings, PROVIDER_XERO_BASE_URL: hubspot.url }, ['--demo'])
		oauth.serve([`${served.url}/oauth/callback`])
		client = new Client({ apiKey: served.key as string, baseUrl: served.url })
		browser = await launchBrowser()
	})
	afterAll(async () => {
		await browser?.close()
		await served?.end('SIGTERM')
		await Promise.all([hubspot.stop(), oauth.stop()])
		remit.stop()
		rmSync(folder, { recursive: true })
	})

	/** A page, and the console messages of it and of the pages after it. */
	async function open(url: string, viewport = { width: 390, height: 844 }): Promise<{ page: Page; complaints: string[] }> {
		const page = await (await browser.newContext({ viewport })).newPage()
		const complaints: string[] = []
		page.on('console', (message) => complaints.push(message.text()))
		await page.goto(url)
		return { page, complaints }
	}

	it('the person is led to the provider and back, and is asked nothing twice', async () => {
		const { id } = await client.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
		const { page, complaints } = await open((await client.connections.link(id)).url)
		await page.getByRole('button', { name: 'Continue to Xero' }).click()
		await page.waitForURL(/\/oauth\/callback/)
		expect(await page.getByRole('heading').allTextContents()).toEqual(['Connected'])
		expect(complaints).toEqual([])
		expect(await client.connections.get(id)).toMatchObject({ status: 'active' })
	})

	it('the person mistypes a key, is told so on the screen, and types the right one', async () => {
		await client.organization.update({ connectReturnOrigins: [served.url] })
		const credentials = { apiKey: secret('unknown') }
		const { id } = await client.connections.create({ provider: 'hubspot', name: 'HubSpot', authType: 'api_key', credentials })
		const { url } = await client.connections.link(id, { returnUrl: `${served.url}/health` })
		const { page } = await open(url)
		await page.getByLabel('API key').fill('wrong')
		await page.getByRole('button', { name: 'Connect' }).click()
		expect(await page.getByRole('alert').textContent()).toContain('HubSpot does not take this')
		expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
		await page.getByLabel('API key').fill(hubspot.token)
		await page.getByRole('button', { name: 'Connect' }).click()
		expect(await page.getByRole('heading').allTextContents()).toEqual(['Connected'])
		await page.getByRole('link', { name: /^Go to / }).click()
		await page.waitForURL(/\/health$/)
		expect(await client.connections.get(id)).toMatchObject({ status: 'active', account: { externalId: '62515001' } })
	})

	it('a page of another site that posts the form connects nothing', async () => {
		const { id } = await client.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
		const { url } = await client.connections.link(id)
		const { page } = await open(url)
		// The visitor has the cookie of the page, and the stranger what the page shows a browser of their own.
		const check = await page.locator('input[name=check]').inputValue()
		await page.goto('about:blank')
		await page.setContent(`<form method="post" action="${url}"><input name="check" value="${check}"><button>Win</button></form>`)
		await page.getByRole('button').click()
		await page.waitForURL(url)
		expect(await page.getByRole('heading').allTextContents()).toEqual(['Open the link again'])
		expect(await client.connections.get(id)).toMatchObject({ status: 'pending' })
	})
})
