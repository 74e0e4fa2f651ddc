// The web application that is built, in Chromium: the first person comes in, signs in again and sees five pages.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, password, startApp } from '../../../web/test/app.ts'
import { needs } from '../needs.ts'
import { built } from './built.ts'

needs('chromium').describe('the web application', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp({}, ['--demo'], built)
	})
	afterAll(() => app?.close())

	it('lets a person sign in with a password', async () => {
		const { email } = await app.newPerson('admin')
		const { page } = await app.openApp('/', { person: null })
		await page.getByLabel('E-mail', { exact: true }).fill(email)
		await page.getByLabel('Password', { exact: true }).fill(password)
		await page.getByRole('button', { name: 'Sign in', exact: true }).click()
		await page.getByRole('link', { name: 'Invoices', exact: true }).waitFor()
	})

	it.each([
		['/invoices', 'Invoices'],
		['/companies', 'Companies'],
		['/deals', 'Deals'],
		['/connections', 'Connections'],
		['/webhooks', 'Webhooks'],
	])('shows %s with nothing to complain about', async (path, heading) => {
		const { page, complaints } = await app.openApp(path)
		await page.getByRole('heading', { level: 1, name: heading }).waitFor()
		expect(complaints).toEqual([])
	})
})
