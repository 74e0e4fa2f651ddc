// A person's way through mappings, with the companies of the demo's CRM to preview them with.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('mappings', () => {
	let app: App
	let id = ''
	beforeAll(async () => {
		app = await startApp()
		id = (await app.client.mappings.list()).data[0]?.id as string
	})
	afterAll(() => app?.close())

	const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

	it('a field is changed, previewed as what would come of it, and saved', async () => {
		const { page, complaints } = await app.openApp('/mappings')
		await page.getByRole('link', { name: 'Companies of the demo CRM' }).click()
		await heading(page, 'Companies of the demo CRM')
		const name = page.getByRole('listitem', { name: 'Field 1' })
		await name.getByLabel('Transform').selectOption({ label: 'Upper case' })
		await press(page, 'Preview')
		await page.getByRole('cell', { name: 'CASA VERDE ARQUITECTOS', exact: true }).waitFor()
		expect(await page.locator('.previewed .badge', { hasText: 'Update' }).count()).toBeGreaterThan(0)
		expect((await app.client.mappings.get(id)).fields[0]?.transforms).toBeUndefined()
		await press(page, 'Save')
		await page.getByText('The mapping was saved').waitFor()
		expect((await app.client.mappings.get(id)).fields[0]).toMatchObject({ source: 'name', transforms: [{ name: 'upper' }] })
		await press(page, 'Remove Upper case')
		await name.getByLabel('Target').fill('nothing.such')
		await press(page, 'Save')
		await page.locator('.field-error, .error-panel').first().waitFor()
		await name.getByLabel('Target').fill('name')
		await press(page, 'Save')
		await expect
			.poll(async () => (await app.client.mappings.get(id)).fields[0]?.transforms ?? [], { timeout: 10_000 })
			.toEqual([])
		expect(complaints.filter((text) => !/422/.test(text))).toEqual([])
	})

	it('a transform has a field for each parameter, and each says what is wrong with it', async () => {
		const fields = [{ target: 'name', source: 'name' }]
		const sides = { source: { system: 'http_json', object: 'companies' }, target: { system: 'internal', object: 'company' } }
		const made = await app.client.mappings.create({ name: 'With parameters', ...sides, fields, status: 'active' })
		const { page } = await app.openApp(`/mappings/${made.id}`)
		const row = page.getByRole('listitem', { name: 'Field 1' })
		const add = (label: string) => row.getByLabel('Transform').selectOption({ label })
		const saved = async () => (await app.client.mappings.get(made.id)).fields[0]?.transforms
		await add('Cut to a length')
		await press(page, 'Save')
		await row.getByText('truncate needs length.').waitFor()
		await row.getByLabel('Characters').fill('many')
		await press(page, 'Save')
		await page.locator('.mapping-step .field-error').waitFor()
		await row.getByLabel('Characters').fill('20')
		await add('Join with other fields')
		await row.getByLabel('Other fields', { exact: true }).fill('city\ncountry..code')
		await row.getByLabel('Text between').fill(', ')
		await press(page, 'Save')
		await row.getByText(/^Line 2: /).waitFor()
		await row.getByLabel('Other fields', { exact: true }).fill('city\ncountry')
		await add('Replace values')
		await row.getByLabel('Value 1', { exact: true }).fill('Acme')
		await row.getByLabel('Becomes', { exact: true }).fill('Acme GmbH')
		await row.getByLabel('All other values become').fill('Somebody else')
		await press(page, 'Save')
		await page.getByText('The mapping was saved').waitFor()
		expect(await saved()).toEqual([
			{ name: 'truncate', length: 20 },
			{ name: 'concat', paths: ['city', 'country'], separator: ', ' },
			{ name: 'enumMap', values: { Acme: 'Acme GmbH' }, otherwise: 'Somebody else' },
		])
		await press(page, 'Remove Join with other fields')
		expect(await row.getByLabel('Becomes', { exact: true }).inputValue()).toBe('Acme GmbH')
		await press(page, 'Save')
		await expect.poll(async () => (await saved())?.length).toBe(2)
	})

	it('a draft is made, is mended, and can then be used; one that a sync uses stays', async () => {
		const { page } = await app.openApp('/mappings/new')
		await page.getByLabel('Name', { exact: true }).fill('By hand')
		await page.getByLabel('Object of the provider').fill('companies')
		await press(page, 'Create draft')
		await heading(page, 'By hand')
		await page.locator('.banner').first().waitFor()
		expect(await page.getByRole('button', { name: 'Activate' }).isDisabled()).toBe(true)
		await press(page, 'Add a field')
		const row = page.getByRole('listitem', { name: 'Field 1' })
		await row.getByLabel('Source').fill('name')
		await row.getByLabel('Target').fill('name')
		await press(page, 'Save')
		await press(page, 'Activate')
		await page.locator('h1 + .badge', { hasText: 'Active' }).waitFor()
		await press(page, 'Delete')
		await press(page, 'Delete By hand')
		await heading(page, 'Mappings')
		await page.getByRole('link', { name: 'Companies of the demo CRM' }).click()
		await press(page, 'Delete')
		await press(page, 'Delete Companies of the demo CRM')
		await page.locator('.modal .error-panel').waitFor()
	})

	it('one that Remit brings along is taken over', async () => {
		const { page } = await app.openApp('/mappings/new')
		await page.getByRole('button', { name: /^Use / }).first().click()
		await page.locator('h1 + .badge', { hasText: 'Draft' }).waitFor()
	})

	it('a member reads the fields', async () => {
		const { page } = await app.openApp(`/mappings/${id}`, { person: await app.newPerson('member') })
		await page.getByRole('heading', { name: 'Fields' }).waitFor()
		expect(await page.getByRole('button', { name: /Save|Archive|Delete|Preview/ }).count()).toBe(0)
	})
})
