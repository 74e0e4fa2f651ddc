// A manager's way through the pipelines of deals.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('pipelines', () => {
	let app: App
	beforeAll(async () => {
		app = await startApp()
	})
	afterAll(() => app?.close())

	const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const stage = (page: Page, number: number) => page.getByRole('listitem', { name: `Stage ${number}`, exact: true })
	const labels = async (page: Page) =>
		Promise.all(
			(await page.getByRole('listitem', { name: /^Stage \d+$/ }).all()).map((row) => row.getByLabel('Name').inputValue()),
		)
	const find = async (name: string) => {
		const { data } = await app.client.pipelines.list({ limit: 100 })
		const found = data.find((pipeline) => pipeline.name === name)
		if (!found) throw new Error(`there is no pipeline ${name}`)
		return found
	}

	it('a manager makes one, names its stages, puts them in order, and deletes it', async () => {
		const { page, complaints } = await app.openApp('/settings/pipelines', { person: await app.newPerson('manager') })
		await page.getByRole('link', { name: 'New pipeline' }).click()
		await heading(page, 'New pipeline')
		await page.getByLabel('Name of the pipeline').fill('Retainers')
		await press(page, 'Add a stage')
		await press(page, 'Create pipeline')
		await stage(page, 5).getByText('Fill this in').waitFor()
		await stage(page, 5).getByLabel('Name').fill('In Größe')
		await press(page, 'Move up: In Größe')
		await press(page, 'Move up: In Größe')
		await stage(page, 3).getByLabel('Means').selectOption('Won')
		await stage(page, 3).getByLabel('When paid, go to').selectOption('Paid')
		expect(await labels(page)).toEqual(['Lead', 'Won', 'In Größe', 'Paid', 'Lost'])
		await press(page, 'Create pipeline')
		await heading(page, 'Pipelines')
		const { id, stages } = await find('Retainers')
		expect(stages).toEqual([
			{ key: 'lead', label: 'Lead', type: 'open' },
			{ key: 'won', label: 'Won', type: 'won', advanceOnInvoicePaidTo: 'paid' },
			{ key: 'in_grosse', label: 'In Größe', type: 'won', advanceOnInvoicePaidTo: 'paid' },
			{ key: 'paid', label: 'Paid', type: 'won' },
			{ key: 'lost', label: 'Lost', type: 'lost' },
		])
		await page.getByRole('link', { name: 'Edit Retainers' }).click()
		await stage(page, 1).getByLabel('Name').fill('First talk')
		await press(page, 'Move up: Paid')
		expect(await stage(page, 4).getByLabel('When paid, go to').inputValue()).toBe('')
		await press(page, 'Remove: Lost')
		await press(page, 'Save')
		await heading(page, 'Pipelines')
		expect((await app.client.pipelines.get(id)).stages.map(({ key, label }) => `${key} ${label}`)).toEqual([
			'lead First talk',
			'won Won',
			'paid Paid',
			'in_grosse In Größe',
		])
		await page.getByRole('link', { name: 'Edit Retainers' }).click()
		await press(page, 'Delete')
		await press(page, 'Delete Retainers')
		await heading(page, 'Pipelines')
		await page.getByText('Retainers was deleted').waitFor()
		await expect(app.client.pipelines.get(id)).rejects.toMatchObject({ status: 404 })
		expect(complaints).toEqual([])
	})

	it('a stage with deals in it cannot be removed, and the page says so', async () => {
		const { id } = await find('Sales')
		const { page } = await app.openApp(`/settings/pipelines/${id}`)
		await stage(page, 1).waitFor()
		while ((await labels(page)).length > 1)
			await page
				.getByRole('button', { name: /^Remove:/ })
				.first()
				.click()
		await press(page, 'Save')
		await page
			.getByRole('alert')
			.getByText(/^Deals are in the stages that are missing/)
			.waitFor()
	})

	it('two people change different stages, and both stay', async () => {
		const { id } = await app.client.pipelines.create({
			name: 'Merged',
			stages: [
				{ key: 'a', label: 'A', type: 'open' },
				{ key: 'b', label: 'B', type: 'won' },
			],
		})
		const { page } = await app.openApp(`/settings/pipelines/${id}`)
		await stage(page, 1).getByLabel('Name').fill('Mine')
		await app.client.pipelines.update(id, {
			stages: [
				{ key: 'a', label: 'A', type: 'open' },
				{ key: 'b', label: 'Theirs', type: 'won' },
			],
		})
		await press(page, 'Save')
		await page.getByText('their changes are in the form now').waitFor()
		await press(page, 'Save')
		await heading(page, 'Pipelines')
		expect((await app.client.pipelines.get(id)).stages.map(({ label }) => label)).toEqual(['Mine', 'Theirs'])
	})

	it('a member is told who may', async () => {
		const { page } = await app.openApp('/settings/pipelines', { person: await app.newPerson('member') })
		await page.getByText('This is for managers and admins').waitFor()
		expect(await page.getByRole('link', { name: 'New pipeline' }).count()).toBe(0)
	})
})
