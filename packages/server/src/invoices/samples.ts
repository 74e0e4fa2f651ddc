// How the tests ask the operations of this folder.
import type { Tenant } from '../../test/harness.ts'
import { made, type Samples } from '../../test/sample.ts'

export const newInvoice = (tenant: Tenant) => made(tenant, '/api/invoices', { totalCents: 5_000 })

const ofTime = async (tenant: Tenant) => {
	const dealId = await tenant.newDeal()
	return { dealId, timeEntryIds: [await tenant.newTimeEntry({ dealId })] }
}

export const samples: Samples = {
	invoices: {
		make: newInvoice,
		body: async () => ({ notes: 'Thank you.' }),
		broken: async () => ({ body: { lineItems: [{ unitPriceCents: 100 }], totalCents: 1 } }),
		contradicting: async ({ ask }) => ({ body: { invoiceNumber: (await ask('POST', '/api/invoices')).body.invoiceNumber } }),
	},
	'invoices.previewFromTimeEntries': {
		body: async (tenant) => ofTime(tenant),
		broken: async (tenant) => ({ body: { dealId: await tenant.newDeal(), timeEntryIds: ['te_unknown'] } }),
		contradicting: async (tenant) => {
			const body = await ofTime(tenant)
			await made(tenant, '/api/invoices/from-time-entries', body)
			return { body }
		},
	},
	'invoices.createFromTimeEntries': {
		body: async (tenant) => ofTime(tenant),
		broken: async (tenant) => ({ body: { dealId: await tenant.newDeal(), timeEntryIds: ['te_unknown'] } }),
	},
}
