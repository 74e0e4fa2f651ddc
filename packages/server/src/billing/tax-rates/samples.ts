// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import { made, type Samples } from '../../../test/sample.ts'

const newTaxRate = (tenant: Tenant) => made(tenant, '/api/tax-rates', { name: 'VAT', percent: '19' })

export async function archivedRate(tenant: Tenant): Promise<string> {
	const id = await newTaxRate(tenant)
	await tenant.ask('DELETE', `/api/tax-rates/${id}`)
	return id
}

export const samples: Samples = {
	'taxRates.create': { body: async () => ({ name: 'VAT', percent: '19' }) },
	taxRates: {
		make: newTaxRate,
		body: async () => ({ name: 'VAT, reduced', percent: '7' }),
		rejected: {
			tax_rate_archived: async (tenant) => ({ id: await archivedRate(tenant), body: { isDefault: true } }),
			tax_rate_in_use: async (tenant) => {
				const id = await newTaxRate(tenant)
				await made(tenant, '/api/invoices', { lineItems: [{ unitPriceCents: 100, taxRateId: id }] })
				return { id, body: { percent: '20' } }
			},
		},
	},
}
