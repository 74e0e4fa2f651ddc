// What an invoice shows of other records: buyer and seller, and how dates and numbers are written. Sending fixes it: a later
// change of the company or of the settings does not change what a sent invoice says.

import { lockOrganization, markLogoUsed, requireOrganization } from '../../accounts/doors.ts'
import type { Branding, Company, InvoiceWarning, Language, OrganizationSettings, Party } from '../../generated/contract.ts'
import { calendarDay, dayMs } from '../../platform/base/dates.ts'
import { mostErrors } from '../../platform/base/errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { localeFor } from '../../platform/rendering/words/locales.ts'
import { unprintableTexts } from '../../platform/typeset/glyphs.ts'
import { companies } from '../companies/store.ts'
import { findTimeEntriesOf } from '../time-entries/store.ts'
import { blankParty, type StoredInvoice } from './invoice.ts'

export interface Snapshot {
	readonly billTo: Party | null
	readonly billFrom: Party
	readonly language: Language
	readonly locale: string
	readonly timeZone: string
	readonly branding: Branding
}

type Source = Pick<StoredInvoice, 'organizationId' | 'companyId' | keyof Snapshot>

/** What the invoice has of these itself, and the rest as of now. */
export async function snapshotOf(db: Db, invoice: Source): Promise<Snapshot> {
	const { organizationId, companyId, billTo, billFrom, locale, timeZone } = invoice
	// A version without these sent it. Its locale goes when it gets another language, its time zone does not.
	const language = invoice.language ?? (locale === null ? null : 'en')
	const branding = invoice.branding ?? (timeZone === null ? null : plain)
	const needsBuyer = billTo === null && companyId !== null
	if (!needsBuyer && billFrom !== null && language !== null && locale !== null && timeZone !== null && branding !== null)
		return { billTo, billFrom, language, locale, timeZone, branding }
	const needsCompany = needsBuyer || (language === null && companyId !== null)
	const company = needsCompany ? await companies.findEvenDeleted(db, organizationId, companyId) : undefined
	const organization = await requireOrganization(db, organizationId)
	const chosen = language ?? company?.language ?? organization.language
	return {
		billTo: billTo ?? (company ? buyer(company) : null),
		billFrom: billFrom ?? seller(organization),
		language: chosen,
		locale: locale ?? localeFor(chosen, organization),
		timeZone: timeZone ?? organization.timeZone,
		branding: branding ?? { logo: organization.logo, accentColor: organization.accentColor },
	}
}

const plain: Branding = { logo: null, accentColor: null }

/** The language of an invoice that is written now. */
export async function languageOf(
	db: Db,
	{ organizationId, companyId, language }: Pick<StoredInvoice, 'organizationId' | 'companyId' | 'language'>,
): Promise<Language> {
	if (language !== null) return language
	const company = companyId === null ? undefined : await companies.findEvenDeleted(db, organizationId, companyId)
	return company?.language ?? (await requireOrganization(db, organizationId)).language
}

/**
 * The invoice, with its snapshot once it is no draft: a client may have seen it paid, overdue or cancelled, though nobody sent it.
 * `mailed` is the snapshot that its client has in an e-mail.
 */
export async function withSnapshot(db: Db, invoice: StoredInvoice, mailed?: Snapshot): Promise<StoredInvoice> {
	if (invoice.status === 'draft') return invoice
	const snapshot = mailed ?? (await snapshotOf(db, invoice))
	// What an earlier version sent stays as that version stored it, so that a write of what is there is no change.
	if (invoice.locale !== null) return { ...invoice, ...snapshot, language: invoice.language, branding: invoice.branding }
	if (await keepLogo(db, invoice, snapshot, invoice.updatedAt)) return { ...invoice, ...snapshot }
	// Nobody replaces this one before the transaction ends.
	await lockOrganization(db, invoice.organizationId)
	const latest = await snapshotOf(db, invoice)
	await keepLogo(db, invoice, latest, invoice.updatedAt)
	return { ...invoice, ...latest }
}

/** Keeps the logo of an invoice that gets this snapshot; false when it is gone, because another has just taken its place. */
export async function keepLogo(
	db: Db,
	{ organizationId, branding }: Pick<StoredInvoice, 'organizationId' | 'branding'>,
	{ branding: { logo } }: Snapshot,
	now: number,
): Promise<boolean> {
	return branding !== null || logo === null || markLogoUsed(db, { organizationId, sha256: logo.sha256 }, now)
}

/** What of its own and other texts the invoice's PDF cannot show, and a due day before that of its issue, which is today if it has none. */
export async function documentWarnings(db: Db, invoice: StoredInvoice, now: number): Promise<InvoiceWarning[]> {
	const { organizationId, id, includeTimesheet } = invoice
	const timeEntries = includeTimesheet ? await findTimeEntriesOf(db, organizationId, id) : []
	const snapshot = await snapshotOf(db, invoice)
	const texts = unprintableTexts({
		...{ ...invoice, ...snapshot, billTo: snapshot.billTo && shownOfBuyer(snapshot.billTo) },
		timeEntries: timeEntries.map(({ taskName, deliverableName, description }) => ({ taskName, deliverableName, description })),
	})
	const inOrder = texts.toSorted((one, other) => (one.path.join('/') < other.path.join('/') ? -1 : 1))
	const unprintable = inOrder.slice(0, mostErrors).map(({ path, characters }) => ({
		code: 'unprintable_text' as const,
		pointer: `/${path.join('/')}`,
		detail: `The PDF shows \ufffd in ${path.join('.')} in place of ${named(characters)}: none of its fonts has that.`,
	}))
	const dayOf = (ms: number) => (ms % dayMs === 0 ? ms : calendarDay(snapshot.timeZone, ms))
	const isEarly = invoice.dueDate !== null && dayOf(invoice.dueDate) < dayOf(invoice.issuedDate ?? now)
	const detail = 'The due date is before the day on which the invoice is issued.'
	return isEarly ? [{ code: 'due_before_issue', pointer: '/dueDate', detail }, ...unprintable] : unprintable
}

/** The rest is on the document of a seller alone (sharing/letterhead.ts). */
const shownOfBuyer = ({ email, phone, registration, bankAccount, footer, ...shown }: Party) => shown

const mostNamed = 10

const named = (characters: readonly string[]) =>
	`${characters.slice(0, mostNamed).join(' ')}${characters.length > mostNamed ? ` and ${characters.length - mostNamed} more` : ''}`

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
