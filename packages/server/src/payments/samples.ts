// How the tests ask the operations of this folder.
import type { Tenant } from '../../test/harness.ts'
import { made, type Samples } from '../../test/sample.ts'

const newInvoice = (tenant: Tenant) => made(tenant, '/api/invoices', { totalCents: 5_000, currency: 'USD' })
const newPayment = (tenant: Tenant) => made(tenant, '/api/payments', { amountCents: 700, currency: 'USD' })
const part = async (tenant: Tenant, amountCents: number) => ({
	allocations: [{ invoiceId: await newInvoice(tenant), amountCents }],
})

/** The payment that stands for the status of an invoice. */
const shadow = async (tenant: Tenant) => {
	const id = await made(tenant, '/api/invoices', { totalCents: 5_000, status: 'paid' })
	return (await tenant.ask('GET', `/api/payments?invoiceId=${id}`)).body.data[0].id
}

export const samples: Samples = {
	payments: {
		make: newPayment,
		// Another reference each time, since a write of what is there already is no change.
		body: async () => ({ reference: `Transfer ${Math.random()}` }),
		contradicting: async (tenant) => ({ id: await shadow(tenant), body: { reference: 'Other' } }),
	},
	'payments.create': {
		body: async (tenant) => ({ amountCents: 700, invoiceId: await newInvoice(tenant) }),
		broken: async (tenant) => ({ body: { amountCents: 700, ...(await part(tenant, 701)) } }),
	},
	'payments.reverse': {
		make: newPayment,
		body: async () => ({ reason: 'Bounced' }),
		contradicting: async (tenant) => ({ id: await shadow(tenant) }),
	},
	'payments.allocate': {
		make: newPayment,
		body: (tenant) => part(tenant, 1),
		broken: async (tenant) => ({ body: await part(tenant, 701) }),
		contradicting: async (tenant) => ({ id: await shadow(tenant) }),
	},
	'payments.release': {
		make: async (tenant) => made(tenant, '/api/payments', { amountCents: 700, invoiceId: await newInvoice(tenant) }),
		contradicting: async (tenant) => ({ id: await shadow(tenant) }),
	},
}
