// How the tests ask the operations of this folder.
import { made, type Samples } from '../../../test/sample.ts'
import { newInvoice } from '../samples.ts'

export const samples: Samples = {
	'invoices.paymentLink.create': {
		make: newInvoice,
		broken: async (tenant) => ({ id: await made(tenant, '/api/invoices', { totalCents: 0 }) }),
	},
	'invoices.paymentLink.get': {
		make: async (tenant) => {
			const id = await newInvoice(tenant)
			await tenant.ask('POST', `/api/invoices/${id}/payment-link`)
			return id
		},
	},
}
