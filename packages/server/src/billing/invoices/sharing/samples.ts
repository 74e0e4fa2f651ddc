// How the tests ask the operations of this folder.
import type { Tenant } from '../../../../test/harness.ts'
import { made, type Rejected, type Samples, suppressed } from '../../../../test/sample.ts'
import { newInvoice } from '../samples.ts'

async function withLink(tenant: Tenant): Promise<string> {
	const id = await newInvoice(tenant)
	await tenant.ask('POST', `/api/invoices/${id}/client-link`)
	return id
}

const newToken = async (tenant: Tenant): Promise<string> => {
	const { body } = await tenant.ask('POST', `/api/invoices/${await newInvoice(tenant)}/client-link`)
	return body.url.split('/').at(-1)
}

const withoutLink: Rejected = { client_link_not_found: async (tenant) => ({ id: await newInvoice(tenant) }) }

export const samples: Samples = {
	'invoices.send': {
		make: newInvoice,
		body: async () => ({ to: 'client@acme.example' }),
		rejected: {
			invoice_cancelled: async (tenant) => ({ id: await made(tenant, '/api/invoices', { status: 'cancelled' }) }),
			recipient_suppressed: async (tenant) => ({ body: { to: await suppressed(tenant, 'gone@acme.example') } }),
		},
	},
	'invoices.emails.list': { make: newInvoice },
	'invoices.clientLink.create': { make: newInvoice },
	'invoices.clientLink.get': { make: withLink, rejected: withoutLink },
	'invoices.clientLink.delete': { make: withLink, rejected: withoutLink },
	'invoices.public.get': { make: newToken },
	'invoices.public.pdf': { make: newToken },
}
