// How the tests ask the operations of this folder.
import { made, type Samples } from '../../../test/sample.ts'
import { newInvoice } from '../invoices/samples.ts'

const ofOwn = { body: async () => ({ secretKey: 'rk_test_51Nq0aKq2LwXc4', webhookSecret: 'whsec_8fKq2LwXc4' }) }

export const samples: Samples = {
	'organization.paymentCredentials.get': {},
	'organization.paymentCredentials.replace': ofOwn,
	'organization.paymentCredentials.delete': {},
	'invoices.paymentLink.create': {
		make: newInvoice,
		rejected: { nothing_to_pay: async (tenant) => ({ id: await made(tenant, '/api/invoices', { totalCents: 0 }) }) },
	},
	'invoices.paymentLink.get': {
		make: async (tenant) => {
			const id = await newInvoice(tenant)
			await tenant.ask('POST', `/api/invoices/${id}/payment-link`)
			return id
		},
	},
}
