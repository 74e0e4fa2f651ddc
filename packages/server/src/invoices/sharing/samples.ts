// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import type { Samples } from '../../../test/sample.ts'
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

export const samples: Samples = {
	'invoices.send': { make: newInvoice, body: async () => ({ to: 'client@acme.example' }) },
	'invoices.emails.list': { make: newInvoice },
	'invoices.clientLink.create': { make: newInvoice },
	'invoices.clientLink.get': { make: withLink },
	'invoices.clientLink.delete': { make: withLink },
	'invoices.public.get': { make: newToken },
	'invoices.public.pdf': { make: newToken },
}
