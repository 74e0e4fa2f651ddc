// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import { made, type Samples } from '../../../test/sample.ts'
import { createInvoice } from '../invoices/write.ts'

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

/** A payment that is on as many invoices as it may be. */
async function onAll(tenant: Tenant): Promise<string> {
	const id = await newPayment(tenant)
	for (let times = 0; times < 5; times++) {
		const allocations = await tenant.db.transaction(async (tx) => {
			const parts = []
			while (parts.length < 100) {
				const { id: invoiceId } = await createInvoice(tenant.writing(tx), { totalCents: 5_000, currency: 'USD' })
				parts.push({ invoiceId, amountCents: 1 })
			}
			return parts
		})
		await tenant.ask('POST', `/api/payments/${id}/allocations`, { body: { allocations } })
	}
	return id
}

/** More line items than one request changes. */
function longOnes(tenant: Tenant): Promise<{ invoiceId: string; amountCents: number }[]> {
	const lineItems = Array.from({ length: 1_000 }, () => ({ description: 'Hour', quantity: '1', unitPriceCents: 100 }))
	return tenant.db.transaction(async (tx) => {
		const parts = []
		while (parts.length < 11) {
			const { id: invoiceId } = await createInvoice(tenant.writing(tx), { lineItems, currency: 'USD' })
			parts.push({ invoiceId, amountCents: 1 })
		}
		return parts
	})
}

/** A payment that is on so many, which took two requests. */
async function onLongOnes(tenant: Tenant): Promise<string> {
	const [first, ...others] = await longOnes(tenant)
	const id = await made(tenant, '/api/payments', { amountCents: 700, currency: 'USD', allocations: [first] })
	await tenant.ask('POST', `/api/payments/${id}/allocations`, { body: { allocations: others } })
	return id
}

export const samples: Samples = {
	payments: {
		make: newPayment,
		// Another reference each time, since a write of what is there already is no change.
		body: async () => ({ reference: `Transfer ${Math.random()}` }),
		rejected: { payment_not_manual: async (tenant) => ({ id: await shadow(tenant), body: { reference: 'Other' } }) },
	},
	'payments.create': {
		body: async (tenant) => ({ amountCents: 700, invoiceId: await newInvoice(tenant) }),
		rejected: {
			allocation_too_large: async (tenant) => ({ body: { amountCents: 700, ...(await part(tenant, 701)) } }),
			currency_mismatch: async (tenant) => ({ body: { amountCents: 700, currency: 'EUR', ...(await part(tenant, 1)) } }),
			invalid_payment: async (tenant) => ({
				body: { amountCents: 700, invoiceId: await newInvoice(tenant), ...(await part(tenant, 1)) },
			}),
			nothing_to_pay: async (tenant) => ({
				body: { amountCents: 700, invoiceId: await made(tenant, '/api/invoices', { totalCents: 0 }) },
			}),
			too_many_allocations: async (tenant) => ({ body: { amountCents: 700, allocations: await longOnes(tenant) } }),
		},
	},
	'payments.reverse': {
		make: newPayment,
		body: async () => ({ reason: 'Bounced' }),
		rejected: {
			payment_not_manual: async (tenant) => ({ id: await shadow(tenant) }),
			too_many_allocations: async (tenant) => ({ id: await onLongOnes(tenant) }),
		},
	},
	'payments.allocate': {
		make: newPayment,
		body: (tenant) => part(tenant, 1),
		rejected: {
			payment_not_manual: async (tenant) => ({ id: await shadow(tenant) }),
			allocation_too_large: async (tenant) => ({ body: await part(tenant, 701) }),
			currency_mismatch: async (tenant) => ({
				id: await made(tenant, '/api/payments', { amountCents: 700, currency: 'EUR' }),
				body: await part(tenant, 1),
			}),
			unknown_invoice: async () => ({ body: { allocations: [{ invoiceId: 'inv_unknown', amountCents: 1 }] } }),
			too_many_allocations: async (tenant) => ({ id: await onAll(tenant), body: await part(tenant, 1) }),
		},
	},
	'payments.release': {
		make: async (tenant) => made(tenant, '/api/payments', { amountCents: 700, invoiceId: await newInvoice(tenant) }),
		rejected: {
			payment_not_manual: async (tenant) => ({ id: await shadow(tenant) }),
			allocation_not_found: async () => ({ search: '?invoiceId=inv_unknown' }),
			too_many_allocations: async (tenant) => ({ id: await onLongOnes(tenant) }),
		},
	},
}
