// A person's way through connections, with the demo's CRM at the other end, which takes one key and no other.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { crmKey, crmPath } from '../../server/src/app/demo/crm.ts'
import { secret } from '../../server/test/leaks.ts'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('connections', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
	const badge = (page: Page, text: string) => page.locator('h1 + .badge', { hasText: text }).waitFor()
	const choose = async (page: Page, action: string) => {
		await press(page, 'More')
		await page.getByRole('menuitem', { name: action }).click()
	}

	it('an account is connected, refused with a wrong key, and works with the right one', async () => {
		const { page, complaints } = await app.openApp('/connections')
		await page.getByRole('link', { name: 'Demo CRM' }).waitFor()
		await page.getByRole('link', { name: /^Connect .*(API|JSON|HTTP)/i }).click()
		await heading(page, /^Connect /)
		await field(page, 'Name').fill('My API')
		await press(page, 'Connect')
		await page.locator('.field-error, .error-panel').first().waitFor()
		await field(page, 'Base URL').fill(`${app.url}${crmPath}`)
		await field(page, 'Path of a test').fill('/companies?limit=1')
		await field(page, 'API key').fill(secret('wrong-key'))
		await press(page, 'Connect')
		await heading(page, 'My API')
		await badge(page, 'Failed')
		await page.locator('.banner', { hasText: '401' }).waitFor()
		await field(page, 'API key').fill(crmKey)
		await press(page, 'Save and test')
		await badge(page, 'Active')
		// One that works asks for no credentials by itself.
		await page.getByRole('heading', { name: 'Credentials' }).waitFor()
		expect(await field(page, 'API key').count()).toBe(0)
		await press(page, 'Replace')
		await field(page, 'API key').waitFor()
		expect(await page.evaluate('JSON.stringify(sessionStorage) + JSON.stringify(localStorage)')).not.toContain(crmKey)
		await press(page, 'Test')
		await page.getByText('The provider took the credentials').waitFor()
		expect(complaints.filter((text) => !/40[09]|422/.test(text))).toEqual([])
	})

	it('a connection is turned off, turned on, and deleted', async () => {
		const { page } = await app.openApp('/connections')
		await page.getByRole('link', { name: 'My API' }).click()
		await choose(page, 'Turn off')
		await badge(page, 'Disabled')
		await choose(page, 'Turn on')
		await badge(page, 'Active')
		await choose(page, 'Delete')
		await press(page, 'Delete My API')
		await heading(page, 'Connections')
		await page.getByRole('link', { name: 'My API' }).waitFor({ state: 'detached' })
	})

	it('an API that gives tokens is told where the secret of the client is, and what else it wants', async () => {
		const { page } = await app.openApp('/connections/new?provider=http_json')
		await field(page, 'How').selectOption('client_credentials')
		await field(page, 'Name').fill('With tokens')
		await field(page, 'Base URL').fill(app.url)
		await field(page, 'URL of tokens').fill(`${app.url}/token`)
		await field(page, 'Client id and secret are sent').selectOption('In the body')
		await field(page, 'Scopes').fill('read  write ')
		await field(page, 'Audience').fill('https://api.acme.example')
		await field(page, 'Client id').fill('acme')
		await field(page, 'Client secret').fill(secret('of-the-client'))
		const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/connections'))
		await press(page, 'Connect')
		await heading(page, 'With tokens')
		const { config } = (await sent).postDataJSON()
		expect(config).toEqual({
			...{ baseUrl: app.url, tokenUrl: `${app.url}/token`, clientAuthentication: 'body', scopes: ['read', 'write'] },
			tokenParameters: { audience: 'https://api.acme.example' },
		})
	})

	it('a provider that the server has no client for says so', async () => {
		const { page } = await app.openApp('/connections/new?provider=xero')
		await page.getByText('This server has no client id and secret for Xero yet').waitFor()
		expect(await page.getByRole('button', { name: 'Connect', exact: true }).isDisabled()).toBe(true)
	})

	it('a manager sees health and is offered no credentials', async () => {
		const { page } = await app.openApp('/connections', { person: await app.newPerson('manager') })
		await page.getByRole('link', { name: 'Demo CRM' }).click()
		await heading(page, 'Demo CRM')
		await badge(page, 'Active')
		expect(await page.getByRole('button', { name: /Test|More|Save/ }).count()).toBe(0)
	})
})
