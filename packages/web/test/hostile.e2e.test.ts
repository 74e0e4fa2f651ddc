// Texts that would be scripts if a page took them for HTML, in every text field, on every page that shows them; and much text.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../../server/test/needs.ts'
import { pagesIn } from '../budget.ts'
import * as inputs from '../src/generated/fields.ts'
import { type App, startApp } from './app.ts'

const script = `"'><img src=x onerror="window.ran=1"><script>window.ran=1</script>`

interface Rule {
	readonly type: string
	readonly maxLength?: number
	readonly format?: string
	readonly pattern?: string
}

/** The script in every field of an input that takes any text, cut to its length. */
function planted(input: Readonly<Record<string, Rule>>): Record<string, string> {
	const takesText = ({ type, format = 'line', pattern = '\\S', maxLength = 0 }: Rule) =>
		type === 'string' && pattern === '\\S' && (format === 'line' || format === 'text') && maxLength >= 20
	const fields = Object.entries(input).filter(([name, rule]) => name !== 'vatId' && takesText(rule))
	return Object.fromEntries(fields.map(([name, { maxLength }]) => [name, script.slice(0, maxLength)]))
}

needs('chromium').describe('a text that would be a script', () => {
	let app: App
	const ids: Record<string, string> = {}
	beforeAll(async () => {
		app = await startApp()
		const { client } = app
		const company = { ...planted(inputs.CompanyCreate), ...planted(inputs.CompanyUpdate) } as { name: string }
		ids.companies = (await client.companies.create(company)).id
		ids.contacts = (await client.contacts.create({ ...planted(inputs.ContactCreate), name: script, companyId: ids.companies })).id
		ids.pipelines = (
			await client.pipelines.create({
				...planted(inputs.PipelineCreate),
				name: script,
				stages: [{ key: 'first', label: script, type: 'open' }],
			})
		).id
		const deal = {
			...planted(inputs.DealCreate),
			name: script,
			companyId: ids.companies,
			contactId: ids.contacts,
			pipelineId: ids.pipelines,
		}
		ids.deals = (await client.deals.create({ ...deal, currency: 'EUR' })).id
		const entry = {
			...planted(inputs.TimeEntryCreate),
			dealId: ids.deals,
			startedAt: Date.now() - 7_200_000,
			durationSeconds: 3600,
		}
		ids.time = (await client.timeEntries.create(entry)).id
		ids['tax-rates'] = (await client.taxRates.create({ ...planted(inputs.TaxRateCreate), name: script, percent: '19' })).id
		const { invoiceNumber: _, ...invoice } = planted(inputs.InvoiceInput)
		const lines = [{ ...planted(inputs.LineItemInput), description: script, unitPriceCents: 1000 }]
		ids.invoices = (
			await client.invoices.create({ ...invoice, companyId: ids.companies, dealId: ids.deals, lineItems: lines })
		).id
		await client.invoices.update(ids.invoices, { status: 'sent' })
		await client.payments.create({ ...planted(inputs.PaymentCreate), amountCents: 1, currency: 'EUR', invoiceId: ids.invoices })
		await client.organization.update(planted(inputs.OrganizationSettingsUpdate))
		await client.apiKeys.create({ ...planted(inputs.ApiKeyCreate), name: script, scopes: ['read'] })
		const endpoint = {
			...planted(inputs.WebhookEndpointCreate),
			url: `${app.url}/?${encodeURIComponent(script)}`,
			eventTypes: ['*'],
		}
		ids.endpoints = (await client.webhooks.endpoints.create(endpoint)).id
		ids.deliveries = (await client.webhooks.endpoints.test(ids.endpoints)).id
		ids['event-types'] = 'invoice-paid'
		const [sync] = (await client.syncs.list({ limit: 1 })).data
		Object.assign(ids, { syncs: sync?.id, runs: sync?.lastRun?.id, connections: sync?.connectionId, mappings: sync?.mappingId })
		await client.syncs.update(sync?.id as string, planted(inputs.SyncUpdate))
		await client.connections.update(ids.connections as string, { name: script })
		await client.mappings.update(ids.mappings as string, { name: script })
	})
	afterAll(() => app?.close())

	const fill = (path: string) => path.replaceAll(/\/([\w-]+)\/\$\w+/g, (_, kind: string) => `/${kind}/${ids[kind]}`)
	const routes = readFileSync(join(import.meta.dirname, '../src/routes.ts'), 'utf8')
	const addresses = pagesIn(routes)
		.map(({ path }) => path)
		.filter((path) => !['/sign-in', '/setup', '/invite', '/reset'].includes(path))

	it('is shown as it is on every page, and runs on none', { timeout: 600_000 }, async () => {
		const { page, complaints } = await app.openApp('/')
		page.setDefaultTimeout(30_000)
		const shownOn: string[] = []
		for (const path of addresses) {
			await page.goto(`${app.url}/app${fill(path)}`)
			await page.getByRole('heading', { level: 1 }).waitFor()
			await expect.poll(() => page.locator('.skeleton').count(), { timeout: 15_000 }).toBe(0)
			expect(await page.locator('#page img[src="x"], #page script').count(), path).toBe(0)
			expect(await page.evaluate('window.ran'), path).toBeUndefined()
			const values = `[document.body.innerText, ...[...document.querySelectorAll('input, textarea')].map(({ value }) => value)].join()`
			if (String(await page.evaluate(values)).includes('<img src=x')) shownOn.push(path)
		}
		// Of what is planted each kind is on its list and its own page.
		for (const kind of ['companies', 'contacts', 'deals', 'tax-rates', 'syncs', 'connections', 'mappings', 'settings/pipelines'])
			expect(shownOn.filter((path) => path.startsWith(`/${kind}`)).length, kind).toBeGreaterThan(1)
		expect(shownOn).toEqual(
			expect.arrayContaining(['/invoices', '/invoices/$id', '/invoices/$id/edit', '/settings/keys', '/time']),
		)
		expect(complaints).toEqual([])
	})

	it('that is much too long is refused at its field, and not lost', async () => {
		const { page } = await app.openApp(`/companies/${ids.companies}/edit`)
		const notes = page.getByLabel('Notes', { exact: true })
		const much = '<b>x</b> '.repeat(12_500)
		await notes.fill(much)
		await page.getByRole('button', { name: 'Save', exact: true }).click()
		await expect.poll(() => notes.getAttribute('aria-invalid')).toBe('true')
		expect(await notes.inputValue()).toBe(much)
		await notes.fill('<b>short</b>')
		await page.getByRole('button', { name: 'Save', exact: true }).click()
		await page.getByText('<b>short</b>', { exact: true }).waitFor()
	})

	it('and emoji are as good a name of a key as any', async () => {
		const { page } = await app.openApp('/settings/keys')
		await page.getByRole('button', { name: 'New key', exact: true }).click()
		await page.getByLabel('Name', { exact: true }).fill('🧾 Läden 👩‍💻')
		await page.getByRole('button', { name: 'Create key', exact: true }).click()
		await page.getByRole('button', { name: 'Copy: Key' }).waitFor()
		const names = (await app.client.apiKeys.list({ limit: 100 })).data.map(({ name }) => name)
		expect(names).toContain('🧾 Läden 👩‍💻')
	})
})
