// A person's way through syncs, with the demo's CRM at the other end: it changes and deletes companies meanwhile.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { crmKey, crmPath } from '../../server/src/app/demo/crm.ts'
import { needs } from '../../server/test/needs.ts'
import { type App, startApp } from './app.ts'

needs('chromium').describe('syncs', () => {
	let app: App
	let id = ''
	beforeAll(async () => {
		app = await startApp()
		id = (await app.client.syncs.list()).data[0]?.id as string
	})
	afterAll(() => app?.close())

	const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
	const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
	const choose = async (page: Page, action: string) => {
		await press(page, 'More')
		await page.getByRole('menuitem', { name: action }).click()
	}
	const crm = async (method: string, path: string, body?: object) => {
		const headers = { authorization: `Bearer ${crmKey}`, 'content-type': 'application/json' }
		const answer = await fetch(app.url + crmPath + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
		expect(answer.ok).toBe(true)
	}
	const runAgain = async () => {
		const run = await app.client.syncs.run(id)
		await expect.poll(async () => (await app.client.syncs.runs.get(id, run.id)).finishedAt).not.toBeNull()
	}
	const linked = async (externalId: string) => (await app.client.syncs.links.get(id, externalId)).recordId

	it('a person sees what a run did, and begins another', async () => {
		const { page, complaints } = await app.openApp('/syncs')
		await page.getByRole('link', { name: 'Companies from the demo CRM' }).click()
		await heading(page, 'Companies from the demo CRM')
		await page.getByRole('heading', { name: 'Last run' }).waitFor()
		await press(page, 'Run now')
		await page.locator('table[aria-label="Runs"] tr[data-row]').nth(1).waitFor()
		await page.locator('.run-head', { hasText: 'by hand' }).waitFor()
		await page.getByRole('table', { name: 'Runs' }).getByRole('link').last().click()
		await heading(page, /^Run of/)
		await page.getByText('Every record that it read could be written.').waitFor()
		expect(complaints).toEqual([])
	})

	it('what a run did is shown, though it ended before the page could read it', async () => {
		const recordId = await linked('112')
		const { page } = await app.openApp(`/syncs/${id}`)
		await page.getByRole('button', { name: 'Run now' }).waitFor()
		await app.client.syncs.update(id, { conflictPolicy: 'manual' })
		await app.client.companies.update(recordId, { billingCity: 'Espoo' })
		await crm('PATCH', '/companies/112', { city: 'Turku' })
		// What the page reads at first behind its request is from before the end of the run, and the run from after it.
		let ended: Promise<void> | undefined
		const overtaken = new Set<string>()
		await page.route('**/syncs/*/run', async (route) => {
			const response = await route.fetch()
			const { data: run } = await response.json()
			ended = expect.poll(async () => (await app.client.syncs.runs.get(id, run.id)).finishedAt).not.toBeNull()
			await route.fulfill({ response })
		})
		await page.route(/\/syncs\/\w+(\/runs\/\w+|\/errors\?.*)?$/, async (route) => {
			const url = route.request().url()
			await ended
			const response = await route.fetch()
			if (!ended || url.includes('/runs/') || overtaken.has(url)) return route.fulfill({ response })
			overtaken.add(url)
			const { data, ...rest } = await response.json()
			const early = Array.isArray(data) ? [] : { ...data, lastRun: { ...data.lastRun, status: 'running', finishedAt: null } }
			await route.fulfill({ json: { data: early, ...rest } })
		})
		await press(page, 'Run now')
		await page.getByRole('row', { name: /city/i }).filter({ hasText: 'Turku' }).waitFor()
		await page.getByRole('button', { name: 'Run now' }).waitFor()
		await app.client.syncs.update(id, { conflictPolicy: 'source_wins' })
		await runAgain()
	})

	it('what changed on both sides waits for a decision, which the next run obeys', async () => {
		const recordId = await linked('103')
		await app.client.syncs.update(id, { conflictPolicy: 'manual', schedule: { type: 'manual' } })
		await app.client.companies.update(recordId, { billingCity: 'Sevilla' })
		await crm('PATCH', '/companies/103', { city: 'Madrid' })
		const { page } = await app.openApp(`/syncs/${id}`)
		await press(page, 'Run now')
		const row = page.getByRole('row', { name: /city/i }).filter({ hasText: 'Madrid' })
		await row.waitFor()
		expect(await row.getByText('Sevilla').count()).toBe(1)
		await press(page, 'Use Remit’s')
		await page.getByText('Decided: Remit’s values win').waitFor()
		await press(page, 'Use the provider’s')
		await page.getByText('Decided: the provider’s values win').waitFor()
		await press(page, 'Try them again')
		await page.getByRole('heading', { name: /^Open errors/ }).waitFor({ state: 'detached' })
		expect((await app.client.companies.get(recordId)).billingCity).toBe('Madrid')
	})

	it('a decision about values that have changed since is asked about anew, with those of now', async () => {
		const recordId = await linked('102')
		await app.client.companies.update(recordId, { billingCity: 'Porto' })
		await crm('PATCH', '/companies/102', { city: 'Lisboa' })
		const { page } = await app.openApp(`/syncs/${id}`)
		await press(page, 'Run now')
		await page.getByRole('row', { name: /city/i }).filter({ hasText: 'Lisboa' }).waitFor()
		await page.route('**/syncs/*/errors**', (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()))
		await app.client.companies.update(recordId, { billingCity: 'Faro' })
		await runAgain()
		await press(page, 'Use Remit’s')
		await page.unroute('**/syncs/*/errors**')
		await page.getByText('The records have changed since').waitFor()
		await page.getByRole('row', { name: /city/i }).filter({ hasText: 'Faro' }).waitFor()
		await press(page, 'Use Remit’s')
		await page.getByText('Decided: Remit’s values win').waitFor()
	})

	it('of several records that match a person says which it is', async () => {
		const twins = await Promise.all(
			['Twin', 'Other twin'].map((name) => app.client.companies.create({ name, domain: 'twin.example' })),
		)
		await crm('POST', '/companies', { name: 'Twin GmbH', domain: 'twin.example' })
		const { page } = await app.openApp(`/syncs/${id}`)
		await press(page, 'Run now')
		const candidates = page.getByRole('list', { name: 'Records that match' })
		await candidates.getByRole('link', { name: 'Other twin' }).waitFor()
		await press(page, `It is this one: ${twins[1]?.id}`)
		await page.getByText('The records are linked').waitFor()
		const [link] = (await app.client.syncs.links.list(id, { recordId: twins[1]?.id as string })).data
		expect(link).toMatchObject({ recordId: twins[1]?.id })
	})

	it('many deletions wait until a person has said no, or yes', async () => {
		await app.client.syncs.update(id, { deletePolicy: 'delete', conflictPolicy: 'source_wins' })
		const gone = ['104', '105', '106', '107', '108', '109', '110', '111']
		const records = await Promise.all(gone.map(linked))
		for (const externalId of gone) await crm('DELETE', `/companies/${externalId}`)
		const { page } = await app.openApp(`/syncs/${id}`)
		await choose(page, 'Read everything')
		await page.getByRole('heading', { name: 'Deletions wait for you' }).waitFor()
		await page.getByRole('link', { name: 'Dunmore Dairy' }).waitFor()
		await press(page, 'Keep them, end the run')
		await page.getByRole('heading', { name: 'Deletions wait for you' }).waitFor({ state: 'detached' })
		expect((await app.client.companies.get(records[0] as string)).name).toBe('Dunmore Dairy')
		await choose(page, 'Read everything')
		await press(page, 'Delete 8 records')
		await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 8 records' }).click()
		await page.locator('.run-head', { hasText: 'Succeeded' }).waitFor()
		await expect(app.client.companies.get(records[0] as string)).rejects.toThrow('company_not_found')
	})

	it('a sync is made once it fits, changed, paused, resumed and deleted', async () => {
		await app.client.mappings.create({
			name: 'Back to the CRM',
			source: { system: 'internal', object: 'company' },
			target: { system: 'http_json', object: 'companies' },
			fields: [{ target: 'name', source: 'name' }],
			status: 'active',
		})
		const { page } = await app.openApp('/syncs/new')
		await press(page, 'Create and run')
		expect(await page.getByText('Fill this in').count()).toBe(3)
		await page.getByLabel('Name', { exact: true }).fill('Second')
		await page.getByLabel('Connection').selectOption({ label: 'Demo CRM' })
		await page.getByLabel('Mapping', { exact: true }).selectOption({ label: 'Companies of the demo CRM' })
		await page.getByLabel('Minutes between runs').fill('0')
		await press(page, 'Create and run')
		await page.locator('.field-error').waitFor()
		await page.getByLabel('Minutes between runs').fill('60')
		await press(page, 'Create and run')
		await page.getByText(/brings these records this way already/).waitFor()
		await page.getByLabel('Direction').selectOption('outbound')
		await page.getByLabel('Mapping', { exact: true }).selectOption({ label: 'Back to the CRM' })
		await press(page, 'Create and run')
		await heading(page, 'Second')
		await choose(page, 'Edit')
		await page.getByLabel('Runs begin').selectOption('manual')
		await press(page, 'Save')
		await page.getByText('By hand', { exact: true }).waitFor()
		await choose(page, 'Pause')
		await page.getByText('It is paused').waitFor()
		await choose(page, 'Resume')
		await page.getByText('It is paused').waitFor({ state: 'detached' })
		await choose(page, 'Delete')
		await press(page, 'Delete Second')
		await heading(page, 'Syncs')
	})

	it('a run that says the same is read less and less often, and never in a hidden tab', async () => {
		const { page } = await app.openApp('/syncs')
		await page.clock.install()
		let [asked, open] = [0, 0]
		page.on('request', (request) => request.url().includes('/syncs/') && ++asked && open++)
		page.on('requestfinished', (request) => request.url().includes('/syncs/') && open--)
		await page.route(/\/syncs\/\w+(\/runs\/\w+)?$/, async (route) => {
			const { data } = await (await route.fetch()).json()
			const moving = { status: 'running', finishedAt: null }
			await route.fulfill({
				json: { data: data.lastRun ? { ...data, lastRun: { ...data.lastRun, ...moving } } : { ...data, ...moving } },
			})
		})
		await page.getByRole('link', { name: 'Companies from the demo CRM' }).click()
		await page.getByRole('heading', { name: 'Under way' }).waitFor()
		const askedInAMinute = async () => {
			const before = asked
			for (let seconds = 0; seconds < 60; seconds += 2) {
				await page.clock.runFor(2_000)
				await expect.poll(() => open).toBe(0)
			}
			return asked - before
		}
		const inSight = await askedInAMinute()
		expect(inSight).toBeGreaterThanOrEqual(3)
		expect(inSight).toBeLessThanOrEqual(8)
		await page.evaluate(
			"Object.defineProperty(document, 'visibilityState', { value: 'hidden' }); document.dispatchEvent(new Event('visibilitychange'))",
		)
		expect(await askedInAMinute()).toBe(0)
	})

	it('a member sees runs and is offered nothing else', async () => {
		const { page } = await app.openApp(`/syncs/${id}`, { person: await app.newPerson('member') })
		await page.getByRole('heading', { name: 'Last run' }).waitFor()
		expect(await page.getByRole('button', { name: /Run now|More/ }).count()).toBe(0)
	})
})
