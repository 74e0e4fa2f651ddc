// The whole way of an organization through the pages, on each database: from the first person to money, programs and other services.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Remit } from '@remit/sdk'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newEmptyPostgres } from '../../server/test/databases.ts'
import { type MailServer, startMailServer } from '../../server/test/mail-server.ts'
import { needs } from '../../server/test/needs.ts'
import { OAuthServer } from '../../server/test/oauth-server.ts'
import { FakeHubSpot } from '../../server/test/vendors/hubspot.ts'
import { type App, password, startApp } from './app.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()
const choose = async (page: Page, menu: string, item: string) => {
	await press(page, menu)
	await page.getByRole('menuitem', { name: item, exact: true }).click()
}
const copied = async (page: Page) => String(await page.evaluate('navigator.clipboard.readText()'))

const wholeWay = (kind: string) => {
	let app: App
	let admin: Page
	let mail: MailServer
	let complaints: string[] = []
	const oauth = new OAuthServer()
	const provider = new FakeHubSpot()
	const [refused, taken] = [500, 204]
	let answer = refused
	const receiver = createServer((_, res) => res.writeHead(answer).end())
	const database = { url: '', drop: async () => {} }

	beforeAll(async () => {
		mail = await startMailServer()
		await Promise.all([oauth.start(), provider.start()])
		receiver.listen(0, '127.0.0.1')
		await once(receiver, 'listening')
		if (kind === 'postgres') Object.assign(database, await newEmptyPostgres())
		const where = database.url ? { DATABASE_URL: database.url } : undefined
		const outside = {
			PROVIDER_XERO_BASE_URL: provider.url,
			EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
			SMTP_URL: mail.url,
			MAIL_FROM: 'a@remit.example',
		}
		app = await startApp({ ...oauth.settings, ...outside, ...where })
		oauth.serve([`${app.url}/oauth/callback`])
		const permissions = ['clipboard-read', 'clipboard-write']
		;({ page: admin, complaints } = await app.openApp(`/setup#${app.setupUrl.split('#')[1]}`, { person: null, permissions }))
	})
	afterAll(async () => {
		await app?.close()
		receiver.close()
		await Promise.all([oauth.stop(), provider.stop(), mail.close(), database.drop()])
	})

	it('a server is set up, a colleague is invited, and the role decides on deleting', async () => {
		await field(admin, 'Your name').fill('Ada Lindqvist')
		await field(admin, 'E-mail').fill('ada@northlight.example')
		await field(admin, 'Password').fill(password)
		await press(admin, 'Set up')
		await heading(admin, 'Dashboard')
		await admin.goto(`${app.url}/app/settings/people`)
		await press(admin, 'Invite')
		await field(admin, 'E-mail').fill('jana@northlight.example')
		await admin.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
		await press(admin, 'Copy: Link')
		const { page: jana } = await app.openApp(`/invite#${(await copied(admin)).split('#')[1]}`, { person: null })
		await field(jana, 'Your name').fill('Jana Vogel')
		await field(jana, 'Password').fill(password)
		await press(jana, 'Join')
		await heading(jana, 'Dashboard')

		const { id, invoiceNumber } = await app.client.invoices.create({})
		const remove = () => jana.evaluate(`fetch('/api/invoices/${id}', { method: 'DELETE' }).then(({ status }) => status)`)
		const visit = async () => {
			await jana.goto(`${app.url}/app/invoices/${id}`)
			await press(jana, 'More')
		}
		await visit()
		expect(await jana.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0)
		expect(await remove()).toBe(403)
		await press(admin, 'Done')
		await admin.reload()
		await admin
			.getByRole('row', { name: /jana@/ })
			.getByRole('button', { name: /^Role of/ })
			.click()
		await admin.getByRole('menuitem', { name: 'Manager' }).click()
		await admin.getByText('Jana Vogel is manager now').waitFor()
		await visit()
		await jana.getByRole('menuitem', { name: 'Delete' }).click()
		await press(jana, `Delete ${invoiceNumber}`)
		await heading(jana, 'Invoices')
		await expect(app.client.invoices.get(id)).rejects.toMatchObject({ status: 404 })
	})

	it('a program works with a key of the page until it is revoked', async () => {
		await admin.goto(`${app.url}/app/settings/keys`)
		await press(admin, 'New key')
		await field(admin, 'Name').fill('Web shop')
		await field(admin, 'May do').selectOption('Invoicing')
		await press(admin, 'Create key')
		await press(admin, 'Copy: Key')
		const program = new Remit({ apiKey: await copied(admin), baseUrl: app.url })
		await press(admin, 'Done')
		expect((await program.companies.create({ name: 'Of a program' })).id).toMatch(/^cmp_/)
		await choose(admin, 'More: Web shop', 'Revoke')
		await press(admin, 'Revoke Web shop')
		await admin.getByRole('alertdialog').waitFor({ state: 'detached' })
		await expect(program.companies.list({ limit: 1 })).rejects.toMatchObject({ status: 401 })
	})

	it('a company, a deal and its time become an invoice that the client pays, and the dashboard shows it', async () => {
		const paidNow = async () =>
			(await app.client.reports.summary()).currencies.find(({ currency }) => currency === 'EUR')?.paidThisMonthCents
		const before = await paidNow()
		await admin.goto(`${app.url}/app/companies/new`)
		await field(admin, 'Name').fill('Harbour Works')
		await press(admin, 'Create company')
		await heading(admin, 'Harbour Works')
		await admin.goto(`${app.url}/app/deals/new`)
		await field(admin, 'Name').fill('Harbour signs')
		await admin.getByRole('combobox', { name: 'Company' }).fill('harbour')
		await admin.getByRole('option', { name: 'Harbour Works' }).click()
		await field(admin, 'Hourly rate').fill('90')
		await press(admin, 'Create deal')
		await heading(admin, 'Harbour signs')
		const deal = admin.url()
		await admin.goto(`${app.url}/app/time/new`)
		await admin.getByRole('combobox', { name: 'Deal' }).fill('harbour')
		await admin.getByRole('option', { name: 'Harbour signs' }).click()
		await field(admin, 'Task').fill('Drawing')
		await field(admin, 'Start').fill('08:30')
		await field(admin, 'Duration').fill('2')
		await press(admin, 'Add time')
		await heading(admin, 'Time')
		await admin.goto(deal)
		await press(admin, 'Make invoice')
		await admin.getByRole('dialog').getByRole('button', { name: 'Create draft' }).click()
		await heading(admin, /^INV-/)
		await press(admin, 'Send')
		const dialog = admin.getByRole('dialog', { name: /^Send INV-/ })
		await dialog.getByLabel('To', { exact: true }).fill('pay@harbour.example')
		await dialog.getByRole('button', { name: /^Send INV-/ }).click()
		await dialog.waitFor({ state: 'detached' })
		await press(admin, 'Copy client link')
		const link = await admin.getByRole('dialog', { name: 'Client link' }).getByLabel('Link', { exact: true }).inputValue()
		await admin.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

		const { page: client } = await app.openApp('/sign-in', { person: null })
		await client.goto(link)
		await client.getByRole('button', { name: /^Pay/ }).click()
		await client.waitForURL(/\/pay\/test\//)
		await client.getByRole('button', { name: /^Pay/ }).click()
		await client.waitForURL(`${link}/paid`)
		await expect.poll(paidNow).not.toEqual(before)
		await admin.goto(`${app.url}/app?currency=EUR`)
		const paid = Number(await paidNow()) / 100
		const shown = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' }).format(paid)
		await expect
			.poll(() => admin.getByRole('table', { name: 'Paid by month, EUR' }).locator('td').last().textContent())
			.toBe(shown)
	})

	it('an account is connected at its provider, a sync runs, and a delivery goes again', async () => {
		await admin.goto(`${app.url}/app/connections/new?provider=xero`)
		const opened = admin.waitForEvent('popup')
		await press(admin, 'Connect')
		const popUp = await opened
		await popUp.waitForURL(/\/oauth\/callback/)
		await popUp.getByRole('button', { name: /^Connect/ }).click()
		await popUp.getByRole('heading', { name: 'Connected' }).waitFor()
		await admin.locator('h1 + .badge', { hasText: 'Active' }).waitFor()

		await admin.goto(`${app.url}/app/syncs`)
		await follow(admin, 'Companies from the demo CRM')
		await press(admin, 'Run now')
		await admin.locator('.run-head', { hasText: /Succeeded.*by hand/ }).waitFor()
		expect(await admin.locator('.run-counts dd').first().textContent()).toMatch(/^\d+/)

		const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
		const endpoint = await app.client.webhooks.endpoints.create({ url, eventTypes: ['company.*'] })
		await admin.goto(`${app.url}/app/webhooks/endpoints/${endpoint.id}`)
		await press(admin, 'Send test')
		await heading(admin, 'webhook.test')
		await admin.getByText('Attempt 1').waitFor()
		// Not while the attempt is under way.
		await admin.locator('h1 + .badge', { hasText: 'Retrying' }).waitFor()
		answer = taken
		await press(admin, 'Redeliver')
		await admin.locator('h1 + .badge', { hasText: 'Succeeded' }).waitFor()
		expect(complaints).toEqual([])
	})
}

for (const kind of ['sqlite', 'postgres']) needs('chromium').describe(`on ${kind}`, { timeout: 90_000 }, () => wholeWay(kind))
