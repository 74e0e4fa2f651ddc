// Marks sent invoices overdue once their due day is past in their organization's time zone, each once and with its event.
import { todayIn } from '../base/dates.ts'
import { bySystem } from '../base/origin.ts'
import type { Database } from '../db/database.ts'
import type { WriteContext } from '../db/write-context.ts'
import type { OrganizationSettings } from '../generated/contract.ts'
import { listOrganizations } from '../organizations/store.ts'
import { asRead } from './invoice.ts'
import { findPastDue, lockInvoice } from './store.ts'
import { changeInvoice } from './write.ts'

/** Invoices per transaction: on SQLite every other writer waits for it. */
const batch = 50

/** Returns the number of invoices that it marked. */
export async function sweepOverdue(db: Database, now: number): Promise<number> {
	let marked = 0
	for (const organization of await listOrganizations(db)) {
		for (let count = batch; count === batch; marked += count) count = await sweepBatch(db, organization, now)
	}
	return marked
}

async function sweepBatch(db: Database, organization: OrganizationSettings, now: number): Promise<number> {
	const today = todayIn(organization.timeZone, now)
	if ((await findPastDue(db, organization.id, today, 1)).length === 0) return 0
	return db.transaction(async (tx) => {
		// Only one process at a time sweeps an organization; the others go on to the next.
		if (!(await tx.tryLock(`overdue sweep ${organization.id}`))) return 0
		const write = { db: tx, origin: bySystem(now, 'jobs.overdue'), organization }
		let marked = 0
		for (const { id } of await findPastDue(tx, organization.id, today, batch)) if (await markOverdue(write, id)) marked++
		return marked
	})
}

/** Returns false when the invoice was changed since it was found. */
async function markOverdue(write: WriteContext, id: string): Promise<boolean> {
	const { db, origin, organization } = write
	const invoice = await lockInvoice(db, organization.id, id)
	if (invoice?.status !== 'sent' || !asRead(invoice, todayIn(organization.timeZone, origin.now)).isOverdue) return false
	await changeInvoice(write, invoice, { status: 'overdue' })
	return true
}
