// What people do wrong, or that others try with them: nobody is left without a sentence that says what to do.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, password, startApp } from './app.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

needs('chromium').describe('whoever', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	it('types a wrong password ten times has to wait, and is told for how long, with the right one, too', async () => {
		const { email } = await app.newPerson('member')
		const { page } = await app.openApp('/sign-in', { person: null })
		await field(page, 'E-mail').fill(email)
		await field(page, 'Password').fill('a wrong password')
		for (let count = 0; count < 10; count++) {
			const answer = page.waitForResponse((response) => response.request().method() === 'POST')
			await press(page, 'Sign in')
			expect((await answer).status()).toBe(401)
			await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor()
		}
		await field(page, 'Password').fill(password)
		await press(page, 'Sign in')
		await page.getByRole('alert').getByText('Too many wrong passwords for this address').waitFor()
		await page.getByText(/^Wait \d+ minutes/).waitFor()
		expect(await field(page, 'E-mail').inputValue()).toBe(email)
	})

	it('is the last admin stays one, and is told why', async () => {
		const person = await app.newPerson('admin')
		// Whoever else is an admin here.
		const { data } = await app.client.users.list({ limit: 100 })
		for (const { id, role, email } of data)
			if (role === 'admin' && email !== person.email) await app.client.users.update(id, { role: 'manager' })
		const { page } = await app.openApp('/settings/people', { person })
		const role = page.getByRole('button', { name: `Role of ${person.name}: Admin`, exact: true })
		await role.click()
		await page.getByRole('menuitem', { name: 'Member' }).click()
		await page.getByText(/is the last admin of the organization: make somebody else an admin first/).waitFor()
		await role.waitFor()
	})

	it('has one record open in two tabs loses nothing in either', async () => {
		const { id } = await app.client.companies.create({ name: 'Two tabs' })
		const { page: first } = await app.openApp(`/companies/${id}/edit`)
		const second = await first.context().newPage()
		await second.goto(first.url())
		await field(first, 'Phone').fill('of the first')
		await field(second, 'Phone').fill('of the second')
		await field(second, 'Website').fill('second.example')
		await press(first, 'Save')
		await heading(first, 'Two tabs')
		await press(second, 'Save')
		await second.getByText('One field was changed by both of you').waitFor()
		await press(second, 'Keep yours: Phone')
		await press(second, 'Save')
		await heading(second, 'Two tabs')
		expect(await app.client.companies.get(id)).toMatchObject({ phone: 'of the second', domain: 'second.example' })
	})

	it('is in a page of another site sees none of ours in its frame', async () => {
		const other = createServer((_, res) =>
			res.writeHead(200, { 'Content-Type': 'text/html' }).end(`<iframe src="${app.url}/app/settings/keys"></iframe>`),
		).listen(0, '127.0.0.1')
		await once(other, 'listening')
		const { page } = await app.openApp('/')
		const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
		await page.goto(`http://localhost:${(other.address() as AddressInfo).port}`)
		await refused
		const frame = page.frames()[1]
		expect(await frame?.evaluate('document.body?.innerText ?? ""')).not.toContain('API keys')
		other.close()
	})
})
