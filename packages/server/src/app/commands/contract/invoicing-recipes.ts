// How `remit contract verify` asks for invoices and what they are made of.
import { company, invoice, name, nobody, type Recipes, rejected, sendsMail } from './recipe.ts'
import type { ServerUnderTest } from './server-under-test.ts'

const stage = (key: string) => ({ key, label: 'Active', type: 'won' })
const deal = (server: ServerUnderTest, more: object = {}) =>
	server.make('deals.create', { name, currency: 'EUR', hourlyRateCents: 6_000, ...more })
const timeEntry = async (server: ServerUnderTest, dealId?: string) =>
	server.make('timeEntries.create', { dealId: dealId ?? (await deal(server)), durationSeconds: 3_600 })
const pipeline = (server: ServerUnderTest) => server.make('pipelines.create', { name, stages: [stage('active')] })
const taxRate = (server: ServerUnderTest) => server.make('taxRates.create', { name, percent: '19' })
const payment = (server: ServerUnderTest) => server.make('payments.create', { amountCents: 700, currency: 'EUR' })
async function withClientLink(server: ServerUnderTest): Promise<[id: string, token: string]> {
	const id = await invoice(server)
	const { body } = await server.ask('invoices.clientLink.create', { ids: [id] })
	return [id, (body as { url: string }).url.split('/').at(-1) ?? '']
}
const ofTime = async (server: ServerUnderTest) => {
	const dealId = await deal(server)
	return { dealId, timeEntryIds: [await timeEntry(server, dealId)] }
}

export const invoicingRecipes: Recipes = {
	companies: {
		make: (server) => company(server),
		body: async () => ({ name: `${name} Ltd` }),
		errors: [rejected('invalid_vat_id', { name, vatId: 'DE1' })],
	},
	contacts: {
		make: (server) => server.make('contacts.create', { name }),
		body: async () => ({ name: `${name} II` }),
		errors: [rejected('unknown_company', { name, companyId: 'cmp_unknown' })],
	},
	deals: {
		make: deal,
		body: async () => ({ name: `${name} II` }),
		errors: [
			rejected('unknown_company', { name, companyId: 'cmp_unknown' }),
			rejected('unknown_contact', { name, contactId: 'ct_unknown' }),
			rejected('unknown_pipeline', { name, pipelineId: 'pl_unknown' }),
			rejected('unknown_stage', { name, stage: 'unknown' }),
			{ status: 409, code: 'deal_has_time', ids: async (server) => (await ofTime(server)).dealId },
		],
	},
	pipelines: {
		make: pipeline,
		body: async () => ({ name: `${name} II`, stages: [stage('active')] }),
		errors: [
			rejected('invalid_stages', { name, stages: [stage('active'), stage('active')] }),
			{
				status: 409,
				code: 'stage_in_use',
				lasting: true,
				ids: async (server) => {
					const id = await pipeline(server)
					await deal(server, { pipelineId: id })
					return id
				},
				body: { stages: [stage('other')] },
			},
			{
				status: 409,
				code: 'record_in_use',
				lasting: true,
				ids: async (server) => {
					const id = await pipeline(server)
					await deal(server, { pipelineId: id })
					return id
				},
			},
		],
	},
	taxRates: {
		make: taxRate,
		archives: true,
		body: async () => ({ name: `${name} II`, percent: '7' }),
		errors: [
			{
				status: 422,
				code: 'tax_rate_archived',
				ids: async (server) => {
					const id = await taxRate(server)
					await server.ask('taxRates.delete', { ids: [id] })
					return id
				},
				body: { isDefault: true },
			},
			{
				status: 409,
				code: 'tax_rate_in_use',
				ids: async (server) => {
					const id = await taxRate(server)
					await server.make('invoices.create', { lineItems: [{ unitPriceCents: 100, taxRateId: id }] })
					return id
				},
				body: { percent: '20' },
			},
		],
	},
	timeEntries: {
		make: (server) => timeEntry(server),
		body: async (server) => ({ dealId: await deal(server), durationSeconds: 1_800 }),
		errors: [
			rejected('unknown_deal', { dealId: 'dl_unknown' }),
			{
				status: 409,
				code: 'time_entry_invoiced',
				ids: async (server) => {
					const body = await ofTime(server)
					await server.make('invoices.createFromTimeEntries', body)
					return body.timeEntryIds
				},
				body: { description: 'Afterwards' },
			},
		],
	},
	invoices: {
		make: invoice,
		body: async () => ({ notes: name }),
		errors: [
			rejected('totals_mismatch', { lineItems: [{ unitPriceCents: 100 }], totalCents: 1 }),
			rejected('unknown_company', { companyId: 'cmp_unknown' }),
			rejected('unknown_deal', { dealId: 'dl_unknown' }),
			rejected('unknown_tax_rate', { lineItems: [{ unitPriceCents: 100, taxRateId: 'tax_unknown' }] }),
			{
				status: 409,
				code: 'invoice_number_taken',
				body: async (server) => {
					const { body } = await server.ask('invoices.get', { ids: [await invoice(server)] })
					return { invoiceNumber: (body as { data: { invoiceNumber: string } }).data.invoiceNumber }
				},
			},
		],
	},
	'invoices.createFromTimeEntries': {
		body: ofTime,
		errors: [
			{
				status: 422,
				code: 'invalid_time_entries',
				body: async (server) => ({ dealId: await deal(server), timeEntryIds: ['te_unknown'] }),
			},
			rejected('unknown_deal', { dealId: 'dl_unknown', timeEntryIds: ['te_unknown'] }),
		],
	},
	'invoices.previewFromTimeEntries': { body: ofTime },
	'invoices.send': { make: invoice, body: async () => ({ to: nobody }), skip: sendsMail },
	'invoices.clientLink.get': { make: async (server) => (await withClientLink(server))[0] },
	'invoices.clientLink.delete': { make: async (server) => (await withClientLink(server))[0] },
	'invoices.public': { make: async (server) => server.own((await withClientLink(server))[1]) },
	'invoices.paymentLink': {
		make: invoice,
		pays: true,
		errors: [{ status: 422, code: 'nothing_to_pay', ids: (server) => server.make('invoices.create', { totalCents: 0 }) }],
	},
	'invoices.paymentLink.get': {
		make: async (server) => {
			const id = await invoice(server)
			await server.ask('invoices.paymentLink.create', { ids: [id] })
			return id
		},
		pays: true,
		errors: [{ status: 404, code: 'payment_link_not_found', ids: invoice }],
	},
	payments: {
		make: payment,
		body: async (server) => ({ reference: `${name} ${server.requests}` }),
		lasting: true,
		errors: [rejected('unknown_invoice', { amountCents: 700, allocations: [{ invoiceId: 'inv_unknown', amountCents: 1 }] })],
	},
	'payments.create': { body: async () => ({ amountCents: 700, currency: 'EUR' }), lasting: true },
	'payments.reverse': { make: payment, body: async () => ({ reason: name }), lasting: true },
	'payments.allocate': {
		make: async (server) => server.make('payments.create', { amountCents: 700 }),
		body: async (server) => ({ allocations: [{ invoiceId: await invoice(server), amountCents: 1 }] }),
		lasting: true,
	},
	'payments.release': {
		make: async (server) => server.make('payments.create', { amountCents: 700, invoiceId: await invoice(server) }),
		lasting: true,
	},
	numberGaps: {},
	reports: {},
	search: {},
}
