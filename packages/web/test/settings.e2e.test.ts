// What an admin and the others do in the settings: keys that programs use, people and their roles, and the own account.
import { Remit } from '@remit/sdk'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, password, startApp } from './app.ts'

needs('chromium').describe('settings', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const choose = async (page: Page, menu: string, item: string) => {
		await press(page, menu)
		await page.getByRole('menuitem', { name: item }).click()
	}
	const open = async (path: string, role: 'member' | 'manager' | 'admin' = 'admin') => {
		const person = await app.newPerson(role)
		const opened = await app.openApp(path, { person, permissions: ['clipboard-read', 'clipboard-write'] })
		return { ...opened, person }
	}

	it('a key is made in the page, used with the SDK, rotated, and revoked in the page', async () => {
		const { page, complaints, person } = await open('/settings/keys')
		await press(page, 'New key')
		await press(page, 'Create key')
		await page.getByText('Fill this in').waitFor()
		await field(page, 'Name').fill('Web shop')
		await field(page, 'May do').selectOption('Invoicing')
		await page.getByRole('checkbox', { name: 'Write payments' }).press('Space')
		expect(await field(page, 'May do').inputValue()).toBe('own')
		await press(page, 'Create key')
		await page.getByRole('dialog', { name: 'The key of Web shop' }).waitFor()
		await press(page, 'Done')
		await page.getByText('The key is not copied yet').waitFor()
		await press(page, 'Stay')
		await press(page, 'Copy: Key')
		await page.getByText('Copied').waitFor()
		const apiKey = String(await page.evaluate('navigator.clipboard.readText()'))
		await press(page, 'Done')
		const program = new Remit({ apiKey, baseUrl: app.url })
		const { id } = await program.companies.create({ name: 'Made by a program' })
		expect((await program.companies.get(id)).name).toBe('Made by a program')
		await expect(program.payments.create({} as never)).rejects.toMatchObject({ status: 403 })
		const { data: keys } = await app.client.apiKeys.list()
		await page
			.getByRole('row', { name: /Web shop/ })
			.getByText(person.name)
			.waitFor()
		expect(keys[0]).toMatchObject({ name: 'Web shop', scopes: expect.not.arrayContaining(['payments:write']) })

		await choose(page, 'More: Web shop', 'Rotate')
		await field(page, 'The old key works for').selectOption('7 days')
		await press(page, 'Make a new key')
		await press(page, 'Copy: Key')
		await page.getByText('Copied').waitFor()
		const rotated = String(await page.evaluate('navigator.clipboard.readText()'))
		expect(rotated).not.toBe(apiKey)
		await press(page, 'Done')
		expect((await program.companies.get(id)).name).toBe('Made by a program')

		for (const _ of [1, 2]) {
			await page.getByRole('button', { name: 'More: Web shop' }).first().click()
			await page.getByRole('menuitem', { name: 'Revoke' }).click()
			await page.getByRole('alertdialog', { name: 'Revoke Web shop?' }).waitFor()
			await press(page, 'Revoke Web shop')
			await page.getByRole('alertdialog', { name: 'Revoke Web shop?' }).waitFor({ state: 'detached' })
		}
		await expect(program.companies.get(id)).rejects.toMatchObject({ status: 401 })
		expect(complaints).toEqual([])
	})

	it('a manager sees keys and people and changes none; a member has only the own account', async () => {
		const { page } = await open('/settings/keys', 'manager')
		await page.getByRole('table', { name: 'API keys' }).waitFor()
		expect(await page.getByRole('button', { name: /New key|^More:/ }).count()).toBe(0)
		await page.getByRole('link', { name: 'People' }).click()
		await page.getByRole('table', { name: 'People' }).waitFor()
		expect(await page.getByRole('button', { name: /Invite|^More:|^Role of/ }).count()).toBe(0)
		const member = await open('/settings/keys', 'member')
		await member.page.getByText('This is for managers and admins').waitFor()
		expect(await member.page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
		for (const path of ['people', 'organization', 'pipelines']) {
			await member.page.goto(`${app.url}/app/settings/${path}`)
			await member.page.getByText('This is for managers and admins').waitFor()
			await member.page.waitForLoadState('networkidle')
		}
		expect(member.complaints).toEqual([])
	})

	it('a person is invited with a link to pass on, gets a role, and is removed', async () => {
		const { page, person } = await open('/settings/people')
		await press(page, 'Invite')
		await field(page, 'E-mail').fill(person.email)
		await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
		await page.getByRole('alert').waitFor()
		await field(page, 'E-mail').fill('late@northlight.example')
		await field(page, 'Role').selectOption('Manager')
		await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
		await press(page, 'Copy: Link')
		expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/\/app\/invite#[\w-]{20,}$/)
		await press(page, 'Done')
		await press(page, 'Send again: late@northlight.example')
		await press(page, 'Send again')
		await press(page, 'Done')
		await press(page, 'Take back: late@northlight.example')
		await page.getByText('The invitation of late@northlight.example was taken back').waitFor()

		const row = page.getByRole('row', { name: /leila@/ })
		await row.getByRole('button', { name: /^Role of/ }).click()
		await page.getByRole('menuitem', { name: 'Manager' }).click()
		await page.getByText('Leila Haidari is manager now').waitFor()
		await choose(page, 'More: Leila Haidari', 'Sessions')
		await page.getByText('Not signed in anywhere.').waitFor()
		await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
		await choose(page, 'More: Leila Haidari', 'Remove')
		await press(page, 'Remove Leila Haidari')
		await row.waitFor({ state: 'detached' })
	})

	it('an invitation says that it has ended with who made it, and works again when somebody else sends it', async () => {
		const inviter = await app.newPerson('admin')
		const as = (path: string, method: string, body?: object) =>
			fetch(`${app.url}${path}`, {
				method,
				headers: { cookie: `remit=${inviter.token}`, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
				...(body && { body: JSON.stringify(body) }),
			})
		await as('/api/invitations', 'POST', { email: 'ended@northlight.example', role: 'manager' })
		const { data: people } = await app.client.users.list({ limit: 100 })
		await app.client.users.delete(people.find(({ email }) => email === inviter.email)?.id as string)
		const { page, complaints } = await open('/settings/people')
		const row = page.getByRole('listitem').filter({ hasText: 'ended@northlight.example' })
		await row.getByText('Ended', { exact: true }).waitFor()
		await row.getByRole('button', { name: /^Send again/ }).click()
		await press(page, 'Send again')
		await press(page, 'Done')
		await row.getByText('Ended', { exact: true }).waitFor({ state: 'detached' })
		await row.getByText(/expires in/).waitFor()
		expect(complaints).toEqual([])
	})

	it('amounts and dates are written as this browser wishes, and forms read them so', async () => {
		const { page, complaints } = await open('/settings/account', 'member')
		await field(page, 'Amounts and dates').selectOption('de-CH')
		await page.getByText(/1['’]234\.50/).waitFor()
		await page.reload()
		expect(await field(page, 'Amounts and dates').inputValue()).toBe('de-CH')
		await page.goto(`${app.url}/app/deals/new`)
		await field(page, 'Value').fill("1'234.5")
		await field(page, 'Value').blur()
		expect(await field(page, 'Value').inputValue()).toMatch(/^1['’]234\.50$/)
		await page.goto(`${app.url}/app/settings/account`)
		await field(page, 'Amounts and dates').selectOption('organization')
		await page.getByText(/1['’]234\.50/).waitFor({ state: 'detached' })
		expect(await page.evaluate("localStorage.getItem('remit locale')")).toBeNull()
		expect(complaints).toEqual([])
	})

	it('a person changes the own name and password, and ends a session elsewhere', async () => {
		const { page, person, complaints } = await open('/settings/account', 'member')
		const other = await app.openApp('/sign-in', { person: null })
		await field(other.page, 'E-mail').fill(person.email)
		await field(other.page, 'Password').fill(password)
		await press(other.page, 'Sign in')
		await other.page.getByRole('button', { name: person.name }).waitFor()
		await page.reload()
		const answer = Promise.withResolvers<void>()
		await page.route('**/sessions/*', (route) => answer.promise.then(() => route.continue()))
		await press(page, 'End')
		const end = page.getByRole('button', { name: 'End', exact: true })
		await end.and(page.getByRole('button', { disabled: true })).waitFor()
		answer.resolve()
		await end.waitFor({ state: 'detached' })
		await other.page.reload()
		await other.page.getByRole('heading', { level: 1, name: 'Sign in to Remit' }).waitFor()

		await field(page, 'Your name').fill('Renamed Person')
		await press(page, 'Save name')
		await page.getByRole('button', { name: 'Renamed Person' }).waitFor()
		expect(complaints).toEqual([])
		await field(page, 'Current password').fill('not the password')
		await field(page, 'New password').fill('a louder evening in June')
		await press(page, 'Change password')
		await page.getByText('This is not your password').waitFor()
		await field(page, 'Current password').fill(password)
		await press(page, 'Change password')
		await page.getByText('The password was changed').waitFor()
		await field(page, 'Theme').selectOption('Dark')
		expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(236, 239, 244)')
	})
})
