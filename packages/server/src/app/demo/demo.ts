// Creates a small agency with clients, deals, tracked time and invoices in every status, so that a first look at the API shows
// something. It calls the same functions as a request.

import {
	createKey,
	createPerson,
	listDemoOrganizations,
	listOrganizations,
	lockPeople,
	markAsDemo,
} from '../../accounts/doors.ts'
import {
	changeInvoice,
	createCompany,
	createContact,
	createDeal,
	createInvoice,
	createInvoiceOfTime,
	createTaxRate,
	createTimeEntry,
	lockInvoice,
} from '../../billing/doors.ts'
import type { Deal, InvoiceInput } from '../../generated/contract.ts'
import { createOrganization } from '../../introductions.ts'
import { scopes } from '../../platform/auth/keys.ts'
import { dayMs } from '../../platform/base/dates.ts'
import type { Origin } from '../../platform/base/origin.ts'
import type { Database, Db } from '../../platform/db/database.ts'
import { type WriteContext, withoutOrder } from '../../platform/db/write-context.ts'
import { agency, clients, type DemoDeal, type DemoInvoice, type DemoTime, people, vatRate } from './data.ts'

export interface Demo {
	readonly organizationId: string
	/** An API key with every scope. */
	readonly key: string
}

export const createDemo = (db: Database, origin: Origin): Promise<Demo> => db.transaction((tx) => writeDemo(tx, origin))

/** The demo of an empty database; undefined where there is an organization by then, as of another server that starts at once. */
export const createFirstDemo = (db: Database, origin: Origin): Promise<Demo | undefined> =>
	db.transaction(async (tx) => {
		await lockPeople(tx)
		return (await listOrganizations(tx)).length > 0 ? undefined : writeDemo(tx, origin)
	})

async function writeDemo(tx: Db, origin: Origin): Promise<Demo> {
	const organization = await createOrganization(tx, origin, agency)
	await markAsDemo(tx, organization.id)
	const write = { db: tx, origin: withoutOrder(origin), organization }
	await createTaxRate(write, vatRate)
	for (const { company, contact, deals } of clients) {
		// As early as the first of what is about them.
		const begun = at(write, origin.now - Math.max(...deals.map(firstDay)) * dayMs)
		const { id: companyId } = await createCompany(begun, company)
		const { id: contactId } = await createContact(begun, { ...contact, companyId })
		for (const { invoices, time = [], ...input } of deals) {
			const deal = await createDeal(at(write, origin.now - firstDay({ invoices, time }) * dayMs), {
				...input,
				companyId,
				contactId,
			})
			for (const invoice of invoices) await writeDemoInvoice(write, deal, invoice)
			await trackTime(write, deal, time)
		}
	}
	for (const person of people) await createPerson(write, { ...person, organizationId: organization.id, passwordHash: null })
	const { key } = await createKey(write, organization.id, { name: 'demo', scopes })
	return { organizationId: organization.id, key }
}

/** Another key for the demo organization, since one is shown only once; undefined where there is no such organization. */
export async function createDemoKey(db: Database, origin: Origin): Promise<string | undefined> {
	const [organizationId] = await listDemoOrganizations(db)
	if (organizationId === undefined) return undefined
	const { key } = await db.transaction((tx) => createKey({ db: tx, origin }, organizationId, { name: 'demo', scopes }))
	return key
}

async function writeDemoInvoice(
	write: WriteContext,
	{ id: dealId, companyId, currency }: Deal,
	{ daysAgo, dueInDays = 30, status, paymentMethod, paymentReference, ...input }: DemoInvoice,
): Promise<void> {
	const { now } = write.origin
	const written = now - daysAgo * dayMs
	const dueDate = Math.floor(written / dayMs) * dayMs + dueInDays * dayMs
	const { id } = await createInvoice(at(write, written), { companyId, dealId, currency, dueDate, ...input })
	if (status === 'draft') return
	await change(at(write, written), id, { status: 'sent' })
	if (status === 'sent') return
	const payment =
		status === 'paid' ? { ...(paymentMethod && { paymentMethod }), ...(paymentReference && { paymentReference }) } : {}
	// It becomes overdue on the day after its due day, and is paid before.
	const changed = status === 'overdue' ? written + (dueInDays + 1) * dayMs : written + 20 * dayMs
	await change(at(write, Math.min(now, changed)), id, { status, ...payment })
}

const firstDay = ({ invoices, time = [] }: Pick<DemoDeal, 'invoices' | 'time'>) =>
	Math.max(0, ...[...invoices, ...time].map(({ daysAgo }) => daysAgo))

const at = (write: WriteContext, now: number): WriteContext => ({ ...write, origin: { ...write.origin, now } })

async function change(write: WriteContext, id: string, input: InvoiceInput): Promise<void> {
	const stored = await lockInvoice(write.db, write.organization.id, id)
	if (!stored) throw new Error(`invoice ${id} is gone`)
	await changeInvoice(write, stored, input)
}

/** Tracks time on a deal: entries older than a week are on a draft invoice, the rest is not invoiced yet. */
async function trackTime(write: WriteContext, deal: Deal, time: readonly DemoTime[]): Promise<void> {
	const today = Math.floor(write.origin.now / dayMs) * dayMs
	const older: string[] = []
	for (const { daysAgo, startHour, hours, ...input } of time) {
		const startedAt = today - daysAgo * dayMs + startHour * 3_600_000
		const { id } = await createTimeEntry(write, { ...input, dealId: deal.id, startedAt, durationSeconds: hours * 3600 })
		if (startedAt < today - 7 * dayMs) older.push(id)
	}
	if (older.length === 0) return
	await createInvoiceOfTime(write, { dealId: deal.id, timeEntryIds: older, showRateBreakdown: true, includeTimesheet: true })
}
