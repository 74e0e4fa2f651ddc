// Buyer and seller as they were when the invoice was first sent: what is on paper does not change with an address book.
import { findCompanyEvenDeleted } from '../companies/store.ts'
import type { Db } from '../db.ts'
import type { Company, Party } from '../generated/contract.ts'
import { findOrganization } from '../organizations/store.ts'
import type { StoredInvoice } from './draft.ts'

export async function withParties(db: Db, invoice: StoredInvoice): Promise<StoredInvoice> {
	const { organizationId, companyId } = invoice
	const company = companyId === null ? undefined : await findCompanyEvenDeleted(db, organizationId, companyId)
	const organization = await findOrganization(db, organizationId)
	return {
		...invoice,
		billTo: company ? buyer(company) : null,
		billFrom: organization ? { ...noAddress, name: organization.name } : null,
	}
}

const buyer = (company: Company): Party => ({
	name: company.name,
	contactName: company.billingContactName,
	addressLine1: company.billingAddressLine1,
	addressLine2: company.billingAddressLine2,
	city: company.billingCity,
	state: company.billingState,
	postalCode: company.billingPostalCode,
	country: company.billingCountry,
	email: company.billingEmail,
})

const noAddress = {
	contactName: null,
	addressLine1: null,
	addressLine2: null,
	city: null,
	state: null,
	postalCode: null,
	country: null,
	email: null,
}
