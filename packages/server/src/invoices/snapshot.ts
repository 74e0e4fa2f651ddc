// What an invoice shows of other records: buyer and seller, and how dates and numbers are written. Sending fixes it: a later
// change of the company or of the settings does not change what a sent invoice says.
import { companies } from '../companies/store.ts'
import type { Db } from '../db/database.ts'
import type { Company, OrganizationSettings, Party } from '../generated/contract.ts'
import { requireOrganization } from '../organizations/store.ts'
import { blankParty, type StoredInvoice } from './invoice.ts'

export interface Snapshot {
	readonly billTo: Party | null
	readonly billFrom: Party
	readonly locale: string
	readonly timeZone: string
}

type Source = Pick<StoredInvoice, 'organizationId' | 'companyId' | keyof Snapshot>

/** What the invoice has of these itself, and the rest as of now. */
export async function snapshotOf(db: Db, invoice: Source): Promise<Snapshot> {
	const { organizationId, companyId, billTo, billFrom, locale, timeZone } = invoice
	const hasBuyer = billTo !== null || companyId === null
	if (hasBuyer && billFrom !== null && locale !== null && timeZone !== null) return { billTo, billFrom, locale, timeZone }
	const company = hasBuyer ? undefined : await companies.findEvenDeleted(db, organizationId, companyId)
	const organization = await requireOrganization(db, organizationId)
	return {
		billTo: billTo ?? (company ? buyer(company) : null),
		billFrom: billFrom ?? seller(organization),
		locale: locale ?? organization.locale,
		timeZone: timeZone ?? organization.timeZone,
	}
}

/** The invoice, with its snapshot once it is sent. */
export const withSnapshot = async (db: Db, invoice: StoredInvoice): Promise<StoredInvoice> =>
	invoice.sentAt === null || invoice.status === 'draft' ? invoice : { ...invoice, ...(await snapshotOf(db, invoice)) }

const buyer = (company: Company): Party => ({
	...blankParty,
	name: company.name,
	contactName: company.billingContactName,
	addressLine1: company.billingAddressLine1,
	addressLine2: company.billingAddressLine2,
	city: company.billingCity,
	state: company.billingState,
	postalCode: company.billingPostalCode,
	country: company.billingCountry,
	email: company.billingEmail,
	taxId: company.taxId,
	vatId: company.vatId,
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
	vatId: organization.vatId,
	registration: organization.registration,
	bankAccount: organization.bankAccount,
	footer: organization.footer,
})
