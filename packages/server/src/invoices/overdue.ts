// Turns sent invoices overdue once their due day is past in their organization's time zone, each once and with its event.
import { todayIn } from '../base/dates.ts'
import { bySystem } from '../base/origin.ts'
import type { Database, Db } from '../db/database.ts'
import { listOrganizations, type Organization } from '../organizations/store.ts'
import { applyInput } from './apply.ts'
import { asRead } from './invoice.ts'
import { findPastDue, lockInvoice } from './store.ts'
import { changeInvoice } from './write.ts'

/** So many in a transaction: on SQLite every other writer waits for it. */
const batch = 50

/** Returns how many invoices it turned. */
export async function sweepOverdue(db: Database, now: number): Promise<number> {
	let turned = 0
	for (const organization of await listOrganizations(db)) {
		for (let count = batch; count === batch; turned += count) count = await sweepBatch(db, organization, now)
	}
	return turned
}

async function sweepBatch(db: Database, { organizationId, timeZone }: Organization, now: number): Promise<number> {
	const today = todayIn(timeZone, now)
	if ((await findPastDue(db, organizationId, today, 1)).length === 0) return 0
	return db.transaction(async (tx) => {
		// One process sweeps an organization at a time; another goes on with the next.
		if (!(await tx.tryLock(`overdue sweep ${organizationId}`))) return 0
		let turned = 0
		for (const { id } of await findPastDue(tx, organizationId, today, batch))
			if (await turn(tx, organizationId, id, timeZone, now)) turned++
		return turned
	})
}

/** False when the invoice was changed since it was found. */
async function turn(db: Db, organizationId: string, id: string, timeZone: string, now: number): Promise<boolean> {
	const invoice = await lockInvoice(db, organizationId, id)
	if (invoice?.status !== 'sent' || !asRead(invoice, todayIn(timeZone, now)).isOverdue) return false
	const writing = { db, origin: bySystem(now), timeZone }
	await changeInvoice(writing, invoice, applyInput(invoice, { status: 'overdue' }, now))
	return true
}
