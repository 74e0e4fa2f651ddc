// The events of an invoice. Each carries the invoice as a GET answers it at that moment.
import { todayIn } from '../base/dates.ts'
import type { WriteContext } from '../db/write-context.ts'
import type { Changes } from '../events/changes.ts'
import { recordEvent } from '../events/record.ts'
import type { EventType } from '../generated/contract.ts'
import { readEmail } from '../mails/store.ts'
import type { StoredInvoice } from './invoice.ts'
import { readInvoice } from './reading/store.ts'

/** How the audit log names an invoice. */
export const audited = ({ organizationId, id }: Pick<StoredInvoice, 'organizationId' | 'id'>) =>
	({ organizationId, resource: 'invoice', resourceId: id }) as const

/** Records events with the invoice as it is stored now, and returns that as JSON text; `changes` go into `invoice.updated`. */
export async function recordInvoiceEvents(
	{ db, origin, organization }: WriteContext,
	{ organizationId, id }: Pick<StoredInvoice, 'organizationId' | 'id'>,
	types: readonly EventType[],
	changes?: Changes,
): Promise<string | undefined> {
	if (types.length === 0) return undefined
	const data = await invoiceNow({ db, origin, organization }, organizationId, id)
	for (const type of types) {
		const extra = type === 'invoice.updated' && changes ? { changes } : {}
		await recordEvent(db, origin, { type, organizationId, resource: 'invoice', resourceId: id, data, ...extra })
	}
	return data
}

async function invoiceNow({ db, origin, organization }: WriteContext, organizationId: string, id: string): Promise<string> {
	const found = await readInvoice(db, organizationId, id, todayIn(organization.timeZone, origin.now))
	if (!found) throw new Error(`invoice ${id} is gone`)
	return found.json
}

/** Records an event about an e-mail of an invoice, with both as they are stored now. */
export async function recordEmailEvent(
	write: WriteContext,
	type: 'invoice.send_failed' | 'invoice.perhaps_sent',
	{ organizationId, id }: Pick<StoredInvoice, 'organizationId' | 'id'>,
	mailId: string,
): Promise<void> {
	const { db, origin } = write
	const invoice = await invoiceNow(write, organizationId, id)
	const email = await readEmail(db, { organizationId, id: mailId })
	const data = `${invoice.slice(0, -1)},"email":${email}}`
	await recordEvent(db, origin, { type, organizationId, resource: 'invoice', resourceId: id, data })
}
