// Signing in at an OpenID Connect provider, which is oidc-provider.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { OpenIdServer } from '../../server/test/openid-server.ts'
import { type App, type Person, startApp } from './app.ts'

needs('chromium').describe('single sign-on', () => {
	let provider: OpenIdServer
	let app: App
	let ada: Person
	beforeAll(async () => {
		provider = await new OpenIdServer().start()
		app = await startApp(provider.settings)
		provider.serve(app.url)
		ada = await app.newPerson('admin')
		provider.person = { sub: 'ada', email: ada.email, email_verified: true, name: ada.name }
	})
	afterAll(async () => {
		await app?.close()
		await provider?.stop()
	})

	const link = 'Sign in with single sign-on'

	it('leads to the provider and back to the page that was asked for', async () => {
		const { page } = await app.openApp('/companies?search=Acme', { person: null })
		await page.getByRole('link', { name: link }).click()
		await page.getByRole('heading', { level: 1, name: 'Companies', exact: true }).waitFor()
		expect(page.url()).toBe(`${app.url}/app/companies?search=Acme`)
		await page.getByRole('button', { name: ada.name }).waitFor()
	})

	it('of somebody unknown ends with a sentence, and of a browser without cookies, too', async () => {
		provider.person = { sub: 'mallory', email: 'mallory@elsewhere.example', email_verified: true }
		const { page } = await app.openApp('/companies', { person: null })
		await page.getByRole('link', { name: link }).click()
		await page.getByRole('alert').getByText('Nobody here has your e-mail address').waitFor()
		expect(await page.context().cookies(app.url)).not.toContainEqual(expect.objectContaining({ name: 'remit' }))
		await page.goto(`${app.url}/app/sign-in?openid=done`)
		await page.getByRole('alert').getByText('Your browser keeps no cookies here').waitFor()
		provider.person = { sub: 'ada', email: ada.email, email_verified: true }
	})

	it('in another tab lets a form go on whose session has ended', async () => {
		const person = await app.newPerson('member')
		provider.person = { sub: 'other', email: person.email, email_verified: true }
		const { page } = await app.openApp('/companies/new', { person })
		await page.getByLabel('Name', { exact: true }).fill('Of two sessions')
		await page.context().clearCookies()
		await page.getByRole('button', { name: 'Create company', exact: true }).click()
		const opened = page.waitForEvent('popup')
		await page.getByRole('dialog').getByRole('link', { name: link }).click()
		await (await opened).getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()
		await page.getByRole('heading', { level: 1, name: 'Of two sessions' }).waitFor()
	})
})
