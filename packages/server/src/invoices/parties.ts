// Buyer and seller. The first sending fixes them: a later change of an address does not change a sent invoice.
import { companies } from '../companies/store.ts'
import type { Db } from '../db/database.ts'
import type { Company, OrganizationSettings, Party } from '../generated/contract.ts'
import { requireOrganization } from '../organizations/store.ts'
import type { StoredInvoice } from './invoice.ts'

export interface Parties {
	readonly billTo: Party | null
	readonly billFrom: Party
}

/** Buyer and seller of an invoice: as of its first sending, or as of now before that. */
export async function partiesOf(
	db: Db,
	invoice: Pick<StoredInvoice, 'organizationId' | 'companyId' | 'sentAt' | 'billTo' | 'billFrom'>,
): Promise<Parties> {
	const { organizationId, companyId, sentAt, billTo, billFrom } = invoice
	if (sentAt !== null && billFrom) return { billTo, billFrom }
	const company = companyId === null ? undefined : await companies.findEvenDeleted(db, organizationId, companyId)
	return { billTo: company ? buyer(company) : null, billFrom: seller(await requireOrganization(db, organizationId)) }
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
	phone: null,
	taxId: null,
})

const seller = (organization: OrganizationSettings): Party => ({
	name: organization.name,
	contactName: organization.contactName,
	addressLine1: organization.addressLine1,
	addressLine2: organization.addressLine2,
	city: organization.city,
	state: organization.state,
	postalCode: organization.postalCode,
	country: organization.country,
	email: organization.email,
	phone: organization.phone,
	taxId: organization.taxId,
})
