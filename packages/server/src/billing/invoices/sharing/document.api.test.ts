// An invoice in words: what its client reads, for programs that show it themselves.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { png } from '../../../../test/images.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
beforeEach(async () => {
	tenant = await server.newTenant({ name: 'Nordlicht', language: 'de', locale: 'de-DE', accentColor: '#0f5c4d' })
})
afterAll(() => server.close())

const lineItems = [
	{ description: 'Workshop', quantity: '1.5', unit: 'Tag', unitPriceCents: 90_000, taxes: [{ label: 'USt.', percent: '19' }] },
	{ description: 'Buch', unitPriceCents: 2_000, taxes: [{ label: 'USt.', percent: '7' }] },
]
const create = async (more: object = {}) => (await tenant.remit.invoices.create({ currency: 'EUR', lineItems, ...more })).id

it('has the words of its language, the taxes of each line, and the account while something is due', async () => {
	await tenant.remit.organization.update({ bankAccount: { iban: 'DE89370400440532013000' } })
	const document = await tenant.remit.invoices.document(await create({ dueDate: '2026-12-31' }))
	expect(document).toMatchObject({
		language: 'de',
		locale: 'de-DE',
		title: 'Rechnung',
		seller: ['Nordlicht'],
		buyer: [],
		labels: { quantity: 'Menge', tax: 'Steuer' },
		columns: { discount: false, tax: true },
		passages: [{ text: expect.stringContaining('DE89 3704 0044 0532 0130 00') }],
		brand: { accentColor: '#0f5c4d', logo: null },
	})
	const spaces = /\s/g
	expect(
		document.lines.map(({ quantity, tax, amount }) => [quantity, tax, amount].map((text) => text.replace(spaces, ' '))),
	).toEqual([
		['1,5 Tag', 'USt. 19 %', '1.350,00 €'],
		['1', 'USt. 7 %', '20,00 €'],
	])
	await tenant.remit.organization.update({ bankAccount: null })
})

it('of a sent invoice keeps its language and logo, and that of a draft follows the settings', async () => {
	const data = png(40, 10, [200, 0, 0]).toString('base64')
	await tenant.remit.organization.logo.replace({ data })
	const sent = await create({ status: 'sent' })
	const draft = await create()
	await tenant.remit.organization.logo.delete()
	await tenant.remit.organization.update({ language: 'en', locale: 'en-IE' })
	expect(await tenant.remit.invoices.document(sent)).toMatchObject({ title: 'Rechnung', brand: { logo: { data, width: 40 } } })
	expect(await tenant.remit.invoices.document(draft)).toMatchObject({ title: 'Invoice', brand: { logo: null } })
})

it('leads to the page to pay once there is a link, and is nobody else’s', async () => {
	const id = await create({ status: 'sent' })
	expect((await tenant.remit.invoices.document(id)).paymentUrl).toBeNull()
	const { url } = await tenant.remit.invoices.clientLink.create(id)
	expect((await tenant.remit.invoices.document(id)).paymentUrl).toBe(url)
	const other = await server.newTenant()
	await expect(other.remit.invoices.document(id)).rejects.toMatchObject({ code: 'invoice_not_found' })
})
