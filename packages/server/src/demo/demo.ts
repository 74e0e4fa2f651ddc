// A small agency with clients, deals, tracked time and invoices in every status, so that the first look at the API shows
// something. All goes through the same functions as a request.

import { insertKey } from '../api-keys/store.ts'
import { scopes } from '../auth/keys.ts'
import { dayMs } from '../base/dates.ts'
import { bySystem } from '../base/origin.ts'
import { insertCompany } from '../companies/store.ts'
import { insertContact } from '../contacts/store.ts'
import type { Database, Db } from '../db/database.ts'
import { insertDeal } from '../deals/store.ts'
import type { Deal, InvoiceInput } from '../generated/contract.ts'
import { applyInput, withAmounts } from '../invoices/apply.ts'
import { charge, timeLines } from '../invoices/from-time-entries.ts'
import { blankInvoice } from '../invoices/invoice.ts'
import { lockInvoice } from '../invoices/store.ts'
import { changeInvoice, createInvoice } from '../invoices/write.ts'
import { insertOrganization, type Organization } from '../organizations/store.ts'
import { insertTaxRate } from '../tax-rates/store.ts'
import { insertTimeEntry } from '../time-entries/store.ts'
import { agency, clients, type DemoInvoice, type DemoTime, vatRate } from './data.ts'

export interface Demo {
	readonly organizationId: string
	/** An API key with every scope. */
	readonly key: string
}

export function createDemo(db: Database, now: number): Promise<Demo> {
	return db.transaction(async (tx) => {
		const organization = await insertOrganization(tx, agency, now)
		const { organizationId } = organization
		await insertTaxRate(tx, organizationId, vatRate, now)
		for (const { company, contact, deals } of clients) {
			const { id: companyId } = await insertCompany(tx, organizationId, company, bySystem(now))
			const { id: contactId } = await insertContact(tx, organizationId, { ...contact, companyId }, now)
			for (const { invoices, time = [], ...input } of deals) {
				const deal = await insertDeal(tx, organizationId, { defaultCurrency: 'EUR', ...input, companyId, contactId }, now)
				for (const invoice of invoices) await writeDemoInvoice(tx, organization, deal, invoice, now)
				await trackTime(tx, organization, deal, time, now)
			}
		}
		const { key } = await insertKey(tx, organizationId, { name: 'demo', scopes, now })
		return { organizationId, key }
	})
}

async function writeDemoInvoice(
	db: Db,
	organization: Organization,
	{ id: dealId, companyId, currency }: Deal,
	{ daysAgo, dueInDays = 30, status, paymentMethod, paymentReference, ...input }: DemoInvoice,
	now: number,
): Promise<void> {
	const written = now - daysAgo * dayMs
	const dueDate = Math.floor(written / dayMs) * dayMs + dueInDays * dayMs
	const blank = blankInvoice(organization, written)
	const draft = applyInput(blank, { companyId, dealId, currency, dueDate, ...input }, written)
	const { id } = await createInvoice(writingAt(db, organization, written), blank, draft)
	if (status === 'draft') return
	await change(db, organization, id, { status: 'sent' }, written)
	if (status === 'sent') return
	const payment = status === 'paid' ? { paymentMethod, paymentReference } : {}
	await change(db, organization, id, { status, ...payment }, Math.min(now, written + 20 * dayMs))
}

const writingAt = (db: Db, { timeZone }: Organization, at: number) => ({ db, origin: bySystem(at), timeZone })

async function change(db: Db, organization: Organization, id: string, input: InvoiceInput, at: number): Promise<void> {
	const stored = await lockInvoice(db, organization.organizationId, id)
	if (!stored) throw new Error(`invoice ${id} is gone`)
	await changeInvoice(writingAt(db, organization, at), stored, applyInput(stored, input, at))
}

/** Time on a deal: what is older than a week is on a draft, the rest is still to be invoiced. */
async function trackTime(db: Db, organization: Organization, deal: Deal, time: readonly DemoTime[], now: number): Promise<void> {
	const { organizationId } = organization
	const today = Math.floor(now / dayMs) * dayMs
	const entries = []
	for (const { daysAgo, startHour, hours, ...input } of time) {
		const startedAt = today - daysAgo * dayMs + startHour * 3_600_000
		const written = { ...input, dealId: deal.id, startedAt, durationSeconds: hours * 3600 }
		entries.push(await insertTimeEntry(db, organizationId, written, bySystem(now)))
	}
	const older = entries.filter(({ startedAt }) => startedAt < today - 7 * dayMs)
	if (older.length === 0) return
	const charged = charge({ ids: older.map(({ id }) => id), entries: older, deal, organization })
	const blank = blankInvoice(organization, now)
	const { id: dealId, companyId, currency } = deal
	const draft = applyInput(blank, { dealId, companyId, currency, showRateBreakdown: true, includeTimesheet: true }, now)
	const invoice = { ...draft, ...withAmounts(draft, timeLines(charged, 'task', undefined), {}) }
	await createInvoice(writingAt(db, organization, now), blank, invoice)
}
