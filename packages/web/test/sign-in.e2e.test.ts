// How a person comes in, is led back, loses the session and goes on, and leaves.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, type Person, password, startApp } from './app.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** As somebody who has not signed in. */
async function open(app: App, path: string): Promise<Page> {
	const { page } = await app.openApp(path, { person: null })
	return page
}

needs('chromium').describe('a new server', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	it('the first person sets the server up by the link that it printed', async () => {
		const page = await open(app, '/companies')
		await heading(page, 'Sign in to Remit')
		await page.getByText('Nobody can sign in here yet').waitFor()
		await page.goto(`${app.setupUrl.slice(0, -4)}none`)
		await field(page, 'Your name').fill('Ada Lindqvist')
		await field(page, 'E-mail').fill('ada@northlight.example')
		await field(page, 'Password').fill('short')
		await press(page, 'Set up')
		await page.getByText('At least 12 characters', { exact: true }).waitFor()
		expect(await page.evaluate("document.activeElement?.getAttribute('name')")).toBe('password')
		await field(page, 'Password').fill(password)
		await press(page, 'Set up')
		await page.getByText('The link does not work').waitFor()
		await page.goto('about:blank')
		await page.goto(app.setupUrl)
		await field(page, 'Your name').fill('Ada Lindqvist')
		await field(page, 'E-mail').fill('ada@northlight.example')
		await field(page, 'Password').fill(password)
		await press(page, 'Set up')
		await page.getByRole('button', { name: 'Ada Lindqvist' }).waitFor()
		const again = await open(app, '/setup')
		await heading(again, 'Remit is set up')
	})
})

needs('chromium').describe('signing in', () => {
	let app: App
	let ada: Person
	beforeAll(async () => {
		app = await startApp()
		ada = await app.newPerson('admin')
	})
	afterAll(() => app?.close())

	const visit = (path: string) => open(app, path)
	const signIn = async (page: Page, email: string, typed = password) => {
		await field(page, 'E-mail').fill(email)
		await field(page, 'Password').fill(typed)
		await press(page, 'Sign in')
	}

	it('a visitor is led to sign-in and back, with a sentence when the password is wrong', async () => {
		const page = await visit('/companies?search=Acme')
		await heading(page, 'Sign in to Remit')
		await signIn(page, ada.email, 'not the password')
		await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor()
		await field(page, 'Password').fill(password)
		await press(page, 'Show the letters')
		expect(await field(page, 'Password').getAttribute('type')).toBe('text')
		await press(page, 'Sign in')
		await heading(page, 'Companies')
		expect(page.url()).toBe(`${app.url}/app/companies?search=Acme`)
	})

	it.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/sign-in', '/no-such-page', '/api/session'])(
		'returnTo=%s leads to the start',
		async (returnTo) => {
			const page = await visit(`/sign-in?returnTo=${encodeURIComponent(returnTo)}`)
			await signIn(page, ada.email)
			await page.getByRole('button', { name: ada.name }).waitFor()
			expect(new URL(page.url())).toMatchObject({ origin: app.url, pathname: expect.not.stringMatching(/evil|sign-in|no-such/) })
		},
	)

	it('a browser that keeps no cookies gets a sentence, not a loop', async () => {
		const page = await visit('/companies')
		await page.route('**/api/session', async (route) => {
			const response = await route.fetch()
			const { 'set-cookie': _, ...headers } = response.headers()
			await page.context().clearCookies()
			await route.fulfill({ response, headers })
			await page.context().clearCookies()
		})
		await signIn(page, ada.email)
		await page.getByText('Your browser keeps no cookies here').waitFor()
		expect(await field(page, 'E-mail').inputValue()).toBe(ada.email)
	})

	it('an invitation lets a person join once; one that was taken back says so', async () => {
		const { url, id } = await app.client.invitations.create({ email: 'new@northlight.example', role: 'member' })
		const page = await visit('/sign-in')
		await page.goto(url)
		await heading(page, /^Join /)
		await field(page, 'Your name').fill('Noor Haddad')
		await field(page, 'Password').fill(password)
		await press(page, 'Join')
		await page.getByRole('button', { name: 'Noor Haddad' }).waitFor()
		const other = await visit('/invite')
		await heading(other, 'The link is not complete')
		await other.goto('about:blank')
		await other.goto(url)
		await heading(other, 'This invitation no longer works')
		expect(id).toMatch(/^ivt_/)
	})

	it('whoever forgot the password gets the same answer as everybody', async () => {
		const page = await visit('/sign-in')
		await page.getByRole('link', { name: 'Forgot the password?' }).click()
		// The page before has such a field as well, and stays until the next one is there.
		await heading(page, 'Forgot the password?')
		await field(page, 'E-mail').fill('nobody@northlight.example')
		await press(page, 'Send the link')
		await heading(page, 'Look at your mail')
		await page.goto('about:blank')
		await page.goto(`${app.url}/app/reset#unknown-secret-of-a-link`)
		await field(page, 'New password').fill(password)
		await press(page, 'Set the password')
		await page.getByText('The link no longer works').waitFor()
		await press(page, 'Ask for another link')
		await heading(page, 'Forgot the password?')
	})

	const formWithoutSession = async () => {
		const person = await app.newPerson('admin')
		const { id } = await app.client.companies.create({ name: 'Half done' })
		const { page } = await app.openApp(`/companies/${id}/edit`, { person })
		await field(page, 'Phone').fill('typed before')
		await page.context().clearCookies()
		await press(page, 'Save')
		await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
		return { page, person, id }
	}

	it('the session ends in a form: the same person goes on, and what waited is sent', async () => {
		const { page, person, id } = await formWithoutSession()
		expect(await field(page, 'E-mail').inputValue()).toBe(person.email)
		await field(page, 'Password').fill(password)
		await page.keyboard.press('Enter')
		await heading(page, 'Half done')
		expect((await app.client.companies.get(id)).phone).toBe('typed before')
	})

	it('another person gets a fresh page, no draft, and nothing is sent', async () => {
		const { page, id } = await formWithoutSession()
		await signIn(page, ada.email)
		await page.getByRole('button', { name: ada.name }).waitFor()
		await page.getByRole('dialog').waitFor({ state: 'detached' })
		await page.goto(`${app.url}/app/companies/${id}/edit`)
		await heading(page, 'Edit Half done')
		expect(await field(page, 'Phone').inputValue()).toBe('')
		expect(await page.evaluate('Object.keys(sessionStorage).filter((name) => name.includes("draft")).length')).toBe(0)
		expect((await app.client.companies.get(id)).phone).toBe(null)
	})

	it('signing out ends the session in every tab, and the way back shows nothing', async () => {
		const person = await app.newPerson('member')
		const { page } = await app.openApp('/companies', { person })
		await page.getByRole('link', { name: 'Acme GmbH' }).click()
		await heading(page, 'Acme GmbH')
		const other = await page.context().newPage()
		await other.goto(`${app.url}/app/companies`)
		await heading(other, 'Companies')
		await page.getByRole('button', { name: person.name }).click()
		await page.getByRole('menuitem', { name: 'Sign out' }).click()
		await heading(page, 'Sign in to Remit')
		await heading(other, 'Sign in to Remit')
		await page.goBack()
		await heading(page, 'Sign in to Remit')
		expect(await page.getByText('Acme GmbH').count()).toBe(0)
	})

	it('a page from the back cache asks who it is before it shows', async () => {
		const person = await app.newPerson('member')
		const { page } = await app.openApp('/companies', { person })
		await page.getByRole('button', { name: person.name }).waitFor()
		await page.context().clearCookies()
		// In one step: the page is loaded again as soon as the server has answered.
		const back = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })); document.documentElement.hidden"
		expect(await page.evaluate(back)).toBe(true)
		await heading(page, 'Sign in to Remit')
	})

	it('signing out of a form that is not saved asks first', async () => {
		const person = await app.newPerson('member')
		const { page } = await app.openApp('/companies/new', { person })
		await field(page, 'Name').fill('Not saved')
		await page.getByRole('button', { name: person.name }).click()
		await page.getByRole('menuitem', { name: 'Sign out' }).click()
		await press(page, 'Keep editing')
		expect(await field(page, 'Name').inputValue()).toBe('Not saved')
	})

	it.each([
		['the same person goes on where they were', true],
		['another person begins at the start, without the drafts', false],
	])('after signing out in another tab %s', async (_sentence, isSame) => {
		const person = await app.newPerson('admin')
		const { id } = await app.client.companies.create({ name: 'Left behind' })
		const { page } = await app.openApp(`/companies/${id}/edit`, { person })
		await field(page, 'Phone').fill('typed before')
		const drafts = () => page.evaluate(() => Object.keys(sessionStorage).filter((name) => name.startsWith('remit draft')).length)
		await expect.poll(drafts).toBe(1)
		const other = await page.context().newPage()
		await other.goto(`${app.url}/app/companies`)
		await other.getByRole('button', { name: person.name }).click()
		await other.getByRole('menuitem', { name: 'Sign out' }).click()
		await heading(other, 'Sign in to Remit')
		await heading(page, 'Sign in to Remit')
		await signIn(page, isSame ? person.email : ada.email)
		if (isSame) {
			await page.getByText(/^Unsaved changes from/).waitFor()
			expect(await field(page, 'Phone').inputValue()).toBe('typed before')
		} else {
			await page.getByRole('button', { name: ada.name }).waitFor()
			expect(new URL(page.url()).pathname).toMatch(/^\/app\/?$/)
			expect(await drafts()).toBe(0)
		}
	})

	it('Ctrl K leaves the dialog to sign in again where it is, and what waits is sent', async () => {
		const { page, id } = await formWithoutSession()
		await field(page, 'Password').fill(password)
		await page.getByRole('dialog', { name: 'Sign in again' }).press('Control+k')
		expect(await field(page, 'Password').inputValue()).toBe(password)
		await press(page, 'Sign in')
		await heading(page, 'Half done')
		expect((await app.client.companies.get(id)).phone).toBe('typed before')
	})
})
