// The events of an invoice, each with the invoice as a GET answers it now.
import { todayIn } from '../base/dates.ts'
import type { WriteContext } from '../db/write-context.ts'
import type { Changes } from '../events/changes.ts'
import { recordEvent } from '../events/record.ts'
import type { EventType } from '../generated/contract.ts'
import type { StoredInvoice } from './invoice.ts'
import { readInvoice } from './store.ts'

/** Writes events of an invoice as it is stored now; `changes` belong to `invoice.updated`. */
export async function recordInvoiceEvents(
	{ db, origin, organization }: WriteContext,
	{ organizationId, id }: Pick<StoredInvoice, 'organizationId' | 'id'>,
	types: readonly EventType[],
	changes?: Changes,
): Promise<void> {
	if (types.length === 0) return
	const found = await readInvoice(db, organizationId, id, todayIn(organization.timeZone, origin.now))
	if (!found) throw new Error(`invoice ${id} is gone`)
	for (const type of types) {
		const own = type === 'invoice.updated' && changes ? { changes } : {}
		await recordEvent(db, origin, { type, organizationId, resource: 'invoice', resourceId: id, data: found.json, ...own })
	}
}
