// Marks sent invoices overdue once their due day is past in their organization's time zone, each once and with its event.

import { requireOrganization } from '../../accounts/doors.ts'
import { endOfDay, todayIn } from '../../platform/base/dates.ts'
import { bySystem } from '../../platform/base/origin.ts'
import type { Database } from '../../platform/db/database.ts'
import { type WriteContext, writingIn } from '../../platform/db/write-context.ts'
import type { JobHandler } from '../../platform/work/jobs.ts'
import { asRead } from './invoice.ts'
import { findFirstDue, findPastDue, lockInvoice } from './store.ts'
import { changeInvoice } from './write.ts'

/** Invoices per transaction: on SQLite every other writer waits for it. */
const batch = 50
/** The job is not due again at once, whatever the clock says. */
const shortestRestMs = 1_000

export const markAllOverdue =
	(db: Database): JobHandler =>
	async (job) => {
		const organization = await requireOrganization(db, job.organizationId)
		const { id, timeZone } = organization
		for (let found = batch; found === batch && !job.signal.aborted; ) {
			const past = await findPastDue(db, id, todayIn(timeZone, job.now), batch)
			found = past.length
			if (found === 0) break
			// Locks of several invoices go by their ids.
			const ids = past.map((invoice) => invoice.id).sort()
			const origin = bySystem(job.now, 'jobs.overdue')
			await job.part(async (tx) => {
				const write = await writingIn(tx, origin, organization)
				for (const invoiceId of ids) await markOverdue(write, invoiceId)
			})
		}
		const ends = (await findFirstDue(db, id)).map((dueDate) => endOfDay(timeZone, dueDate))
		return ends.length === 0 ? undefined : { dueAt: Math.max(Math.min(...ends), job.now + shortestRestMs) }
	}

/** Unless the invoice was changed since it was found. */
async function markOverdue(write: WriteContext, id: string): Promise<void> {
	const { db, origin, organization } = write
	const invoice = await lockInvoice(db, organization.id, id)
	if (invoice?.status !== 'sent' || !asRead(invoice, todayIn(organization.timeZone, origin.now)).isOverdue) return
	await changeInvoice(write, invoice, { status: 'overdue' })
}
