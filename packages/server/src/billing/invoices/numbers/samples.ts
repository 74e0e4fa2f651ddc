// How the tests ask the operations of this folder.
import { made, type Samples } from '../../../../test/sample.ts'

export const samples: Samples = {
	numberGaps: {},
	'organization.nextInvoiceNumber.get': {},
	'organization.nextInvoiceNumber.replace': {
		// Another each time.
		body: async () => ({ number: 8_000_000 + Math.floor(Math.random() * 1_000_000) }),
		rejected: {
			number_used: async (tenant) => {
				await made(tenant, '/api/invoices', { invoiceNumber: 'INV-7000000' })
				return { body: { number: 7_000_000 } }
			},
		},
	},
}
