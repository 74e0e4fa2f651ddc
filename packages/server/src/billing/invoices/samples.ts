// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import { made, type Rejected, type Samples } from '../../../test/sample.ts'
import type { TimeEntryCreate } from '../../generated/contract.ts'
import { archivedRate } from '../tax-rates/samples.ts'

export const newInvoice = (tenant: Tenant) => made(tenant, '/api/invoices', { totalCents: 5_000 })

const line = (lineItem: object) => async () => ({ body: { lineItems: [lineItem] } })

const ofTime = async (tenant: Tenant, entry: Partial<TimeEntryCreate> = {}) => {
	const dealId = await tenant.newDeal()
	return { dealId, timeEntryIds: [await tenant.newTimeEntry({ dealId, ...entry })] }
}

/** A cancelled invoice, and the time that it takes again with any other status. */
async function cancelled(tenant: Tenant) {
	const time = await ofTime(tenant)
	const id = await made(tenant, '/api/invoices/from-time-entries', time)
	await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { status: 'cancelled' } })
	return { id, time }
}

const rejectedTime: Rejected = {
	invalid_time_entries: async (tenant) => ({ body: { dealId: await tenant.newDeal(), timeEntryIds: ['te_unknown'] } }),
	time_entry_already_invoiced: async (tenant) => {
		const body = await ofTime(tenant)
		await made(tenant, '/api/invoices/from-time-entries', body)
		return { body }
	},
	amount_out_of_range: async (tenant) => ({
		body: await ofTime(tenant, { hourlyRateCents: 999_999_999_999, durationSeconds: 7_200 }),
	}),
	rate_missing: async (tenant) => ({ body: await ofTime(tenant, { hourlyRateCents: null }) }),
	currency_mismatch: async (tenant) => {
		await tenant.ask('PATCH', '/api/organization', { body: { defaultCurrency: 'EUR', hourlyRateCents: 10_000 } })
		return { body: await ofTime(tenant, { hourlyRateCents: null }) }
	},
	unknown_tax_rate: async (tenant) => ({ body: { ...(await ofTime(tenant)), taxRateId: 'tax_unknown' } }),
	tax_rate_archived: async (tenant) => ({ body: { ...(await ofTime(tenant)), taxRateId: await archivedRate(tenant) } }),
}

export const samples: Samples = {
	invoices: {
		make: newInvoice,
		body: async () => ({ notes: 'Thank you.' }),
		rejected: {
			totals_mismatch: async () => ({ body: { lineItems: [{ unitPriceCents: 100 }], totalCents: 1 } }),
			amount_out_of_range: line({ unitPriceCents: 999_999_999_999, quantity: 2 }),
			mixed_tax_inclusion: line({ taxes: [true, false].map((inclusive) => ({ label: 'T', percent: '5', inclusive })) }),
			unknown_line_item: line({ id: 'li_unknown' }),
			invalid_line_item: line({ discountPercent: '5', discountCents: 5 }),
			unknown_tax_rate: line({ taxRateId: 'tax_unknown' }),
			tax_rate_archived: async (tenant) => line({ taxRateId: await archivedRate(tenant) })(),
			invalid_vat_id: async () => ({ body: { billTo: { name: 'Acme', vatId: 'DE1' } } }),
			invalid_iban: async () => ({ body: { billFrom: { name: 'Acme', bankAccount: { iban: 'DE89 3704 0044 0532 0130 01' } } } }),
			invalid_period: async () => ({ body: { periodStart: '2026-02-02', periodEnd: '2026-02-01' } }),
			invoice_number_taken: async ({ ask }) => ({
				body: { invoiceNumber: (await ask('POST', '/api/invoices')).body.invoiceNumber },
			}),
			time_entry_already_invoiced: async (tenant) => {
				const { id, time } = await cancelled(tenant)
				await made(tenant, '/api/invoices/from-time-entries', time)
				return { id, body: { status: 'sent' } }
			},
			invalid_time_entries: async (tenant) => {
				const { id, time } = await cancelled(tenant)
				await tenant.ask('DELETE', `/api/time-entries/${time.timeEntryIds[0]}`)
				return { id, body: { status: 'sent' } }
			},
		},
	},
	'invoices.previewFromTimeEntries': {
		body: async (tenant) => ofTime(tenant),
		rejected: rejectedTime,
	},
	'invoices.createFromTimeEntries': { body: async (tenant) => ofTime(tenant), rejected: rejectedTime },
}
