// A person's way through invoices: by keyboard, with another person changing the same one, and with many at once.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('invoices', () => {
	let app: App
	let companyId = ''
	beforeAll(async () => {
		app = await startApp()
		companyId = (await app.client.companies.create({ name: 'Zebra Works', billingEmail: 'pay@zebra.example' })).id
	})
	afterAll(() => app?.close())

	const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const lineOf = (page: Page, number: number) => page.getByRole('group', { name: `Line ${number}` })
	const newInvoice = () =>
		app.client.invoices.create({
			companyId,
			currency: 'EUR',
			dueDate: '2026-12-31',
			lineItems: [
				{ description: 'One', unitPriceCents: 1000 },
				{ description: 'Two', unitPriceCents: 2000 },
			],
		})

	it('what is typed in a new line while it is saved is not saved yet, and the line stays one', async () => {
		const { id, invoiceNumber } = await newInvoice()
		const { page } = await app.openApp(`/invoices/${id}/edit`)
		const held = Promise.withResolvers<void>()
		await page.route('**/api/invoices/*', async (route) => {
			if (route.request().method() === 'PATCH') await held.promise
			await route.continue()
		})
		await press(page, 'Add line')
		await lineOf(page, 3).getByLabel('Description').fill('Three')
		const sent = page.waitForRequest((request) => request.method() === 'PATCH')
		await page.keyboard.press('Control+s')
		await sent
		await lineOf(page, 3).getByLabel('Price').fill('99')
		held.resolve()
		await page.getByText('What you typed meanwhile is not saved yet').waitFor()
		await page.keyboard.press('Control+s')
		await heading(page, new RegExp(`^${invoiceNumber}`))
		const { lineItems } = await app.client.invoices.get(id)
		expect(lineItems.map(({ unitPriceCents }) => unitPriceCents)).toEqual([1000, 2000, 9900])
	})

	it('a person writes one with the keyboard alone, and amounts are read in either spelling', async () => {
		const { page, complaints } = await app.openApp('/invoices')
		await page.keyboard.press('n')
		await heading(page, 'New invoice')
		await page.getByRole('combobox', { name: 'Client' }).focus()
		await page.keyboard.type('zebra')
		await page
			.getByRole('option', { name: /Zebra Works/ })
			.first()
			.waitFor()
		await page.keyboard.press('ArrowDown')
		await page.keyboard.press('Enter')
		await lineOf(page, 1).getByLabel('Description').focus()
		await page.keyboard.type('Workshop')
		for (const text of ['2', 'day', '1.234,50', '10']) {
			await page.keyboard.press('Enter')
			await page.keyboard.type(text)
		}
		await page.keyboard.press('Enter')
		await page.keyboard.press('Enter')
		await page.keyboard.type('Second')
		await page.keyboard.press('Alt+ArrowUp')
		await expect.poll(() => lineOf(page, 1).getByLabel('Description').inputValue()).toBe('Second')
		await page.getByText('€2,222.10').first().waitFor()
		await page.keyboard.press('Control+s')
		await heading(page, /^INV-/)
		const [invoice] = (await app.client.invoices.list({ companyId, limit: 1 })).data
		expect(invoice).toMatchObject({
			subtotalCents: 222210,
			lineItems: [{ description: 'Second' }, { quantity: '2', unit: 'day' }],
		})
		expect(complaints).toEqual([])
	})

	it('an amount that is none is refused at its field, and not lost', async () => {
		const { id } = await newInvoice()
		const { page } = await app.openApp(`/invoices/${id}/edit`)
		const price = lineOf(page, 1).getByLabel('Price')
		await price.fill('twelve')
		await press(page, 'Save')
		await page.getByText('“twelve” is no number').waitFor()
		expect(await price.inputValue()).toBe('twelve')
		expect((await app.client.invoices.get(id)).version).toBe(1)
	})

	it('two people edit one invoice: lines merge, what both changed is asked, and nothing is lost', async () => {
		const { id } = await newInvoice()
		const [one, two] = (await app.client.invoices.get(id)).lineItems
		const { page } = await app.openApp(`/invoices/${id}/edit`)
		await lineOf(page, 1).getByLabel('Price').fill('11')
		await lineOf(page, 2).getByLabel('Price').fill('22')
		await app.client.invoices.update(id, {
			notes: 'theirs',
			lineItems: [
				{ id: one?.id as string, quantity: '3' },
				{ id: two?.id as string, unitPriceCents: 3300 },
				{ description: 'Three' },
			],
		})
		await press(page, 'Save')
		await page.getByText('One field was changed by both of you').waitFor()
		await press(page, 'Keep theirs: Line 2 (Two): price')
		await press(page, 'Save')
		await heading(page, /^INV-/)
		expect(await app.client.invoices.get(id)).toMatchObject({
			notes: 'theirs',
			lineItems: [
				{ description: 'One', quantity: '3', unitPriceCents: 1100 },
				{ description: 'Two', unitPriceCents: 3300 },
				{ description: 'Three' },
			],
		})
	})

	it('Save and send saves the changed form first, then sends to the client', async () => {
		const { id } = await newInvoice()
		const { page } = await app.openApp(`/invoices/${id}/edit`)
		await page.getByLabel('Notes').fill('changed')
		await page.keyboard.press('Control+Enter')
		const dialog = page.getByRole('dialog', { name: /^Send INV-/ })
		await dialog.waitFor()
		expect(await dialog.getByLabel('To', { exact: true }).inputValue()).toBe('pay@zebra.example')
		await dialog.getByRole('button', { name: /^Send INV-/ }).click()
		await dialog.waitFor({ state: 'detached' })
		expect(await app.client.invoices.get(id)).toMatchObject({ status: 'sent', notes: 'changed' })
	})

	it('an e-mail has a link to the invoice, one by one and many at once, unless the sender wants none', async () => {
		const hasLink = (id: string) =>
			app.client.invoices.clientLink.get(id).then(
				() => true,
				() => false,
			)
		const ids = await Promise.all([newInvoice(), newInvoice(), newInvoice()].map(async (made) => (await made).id))
		for (const [id, isWanted] of [
			[ids[0] as string, true],
			[ids[1] as string, false],
		] as const) {
			const { page } = await app.openApp(`/invoices/${id}`)
			await press(page, 'Send')
			const dialog = page.getByRole('dialog', { name: /^Send INV-/ })
			const link = dialog.getByRole('checkbox', { name: /^With a link/ })
			expect(await link.isChecked()).toBe(true)
			await dialog.getByText('the button to view the invoice').waitFor()
			if (!isWanted) {
				await link.uncheck({ force: true })
				await dialog.getByText('It stands above the amount.', { exact: true }).waitFor()
			}
			await dialog.getByRole('button', { name: /^Send INV-/ }).click()
			await dialog.waitFor({ state: 'detached' })
			expect(await hasLink(id)).toBe(isWanted)
		}
		const { invoiceNumber } = await app.client.invoices.get(ids[2] as string)
		const { page } = await app.openApp(`/invoices?search=${invoiceNumber}`)
		await page.getByRole('checkbox').nth(1).check()
		await press(page, 'Send')
		await page.getByText(/with the invoice as a PDF and a link to view it/).waitFor()
		await press(page, 'Send 1 invoice')
		await page.getByText('1 invoice was sent').waitFor()
		expect(await hasLink(ids[2] as string)).toBe(true)
	})

	it('the link of a draft says when it does not work yet', async () => {
		await app.client.organization.update({ publishDrafts: false })
		const { page } = await app.openApp(`/invoices/${(await newInvoice()).id}`)
		await press(page, 'Copy client link')
		await page.getByText('It works once the invoice is sent').waitFor()
		await app.client.organization.update({ publishDrafts: true })
	})

	it('many are marked paid one by one, and what failed is said', async () => {
		const ids = [(await newInvoice()).id, (await newInvoice()).id]
		const { page } = await app.openApp(`/invoices?company=${companyId}&tab=draft`)
		await page.getByRole('checkbox').nth(1).check()
		await page.getByRole('checkbox').nth(2).check()
		await app.client.invoices.update(ids[0] as string, { notes: 'changed meanwhile' })
		await press(page, 'Mark paid')
		await press(page, 'Mark 2 invoices as paid')
		await page.getByText('1 marked as paid, 1 failed').waitFor()
		const states = await Promise.all(ids.map(async (id) => (await app.client.invoices.get(id)).status))
		expect(states).toEqual(['draft', 'paid'])
	})

	it('who may not delete an invoice is not offered it', async () => {
		const { id } = await newInvoice()
		for (const [role, count] of [
			['member', 0],
			['manager', 1],
		] as const) {
			const { page } = await app.openApp(`/invoices/${id}`, { person: await app.newPerson(role) })
			await press(page, 'More')
			await page.getByRole('menu', { name: 'More' }).waitFor()
			expect(await page.getByRole('menuitem', { name: 'Delete' }).count()).toBe(count)
		}
	})

	it('a client whose name is taken out is no longer the client', async () => {
		const { id } = await newInvoice()
		const { page } = await app.openApp(`/invoices/${id}/edit`)
		const client = page.getByRole('combobox', { name: 'Client' })
		await expect.poll(() => client.inputValue()).toBe('Zebra Works')
		await client.fill('')
		// It opens once its code is there.
		await page.getByRole('listbox').waitFor()
		await page.keyboard.press('Escape')
		await press(page, 'Save')
		await heading(page, /^INV-/)
		expect((await app.client.invoices.get(id)).companyId).toBeNull()
	})

	it('two people choose another client: both have names, and the field shows the one that was kept', async () => {
		const { id } = await newInvoice()
		const names = ['Mine Ltd', 'Theirs Ltd']
		const [, theirs] = await Promise.all(names.map(async (name) => (await app.client.companies.create({ name })).id))
		const { page } = await app.openApp(`/invoices/${id}/edit`)
		const client = page.getByRole('combobox', { name: 'Client' })
		await client.fill('mine')
		await page.getByRole('option', { name: /^Mine Ltd/ }).click()
		await app.client.invoices.update(id, { companyId: theirs as string })
		await press(page, 'Save')
		const choice = page.getByRole('group', { name: 'Client' })
		await choice.getByText('Mine Ltd').waitFor()
		await choice.getByText('Theirs Ltd').waitFor()
		await press(page, 'Keep theirs: Client')
		await expect.poll(() => client.inputValue()).toBe('Theirs Ltd')
		await press(page, 'Save')
		await heading(page, /^INV-/)
		expect((await app.client.invoices.get(id)).companyId).toBe(theirs)
	})

	it.each(['/invoices/new', 'the edit page'])(
		'what is wrong with a line is said at that line, below one that is blank: %s',
		async (way) => {
			const path = way.startsWith('/') ? way : `/invoices/${(await newInvoice()).id}/edit`
			const { page } = await app.openApp(path)
			const blank = path === way ? 1 : 3
			if (path !== way) await press(page, 'Add line')
			await press(page, 'Add line')
			await lineOf(page, blank + 1)
				.getByLabel('Description')
				.fill('Much')
			await lineOf(page, blank + 1)
				.getByLabel('Unit')
				.fill('x'.repeat(300))
			await page.keyboard.press('Control+s')
			const unit = lineOf(page, blank + 1).getByLabel('Unit')
			await expect.poll(() => unit.getAttribute('aria-invalid')).toBe('true')
			const described = (await unit.getAttribute('aria-describedby')) as string
			expect(await page.locator(`[id="${described}"]`).textContent()).toMatch(/\w/)
			expect(await lineOf(page, blank).getByLabel('Unit').getAttribute('aria-invalid')).not.toBe('true')
			expect(await page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe('Unit')
		},
	)
})
