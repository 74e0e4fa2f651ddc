// The events of an invoice. Each carries the invoice as a GET answers it at that moment.

import type { EventType } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { todayIn } from '../../platform/base/dates.ts'
import { forEachRow } from '../../platform/db/row-lists.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import type { Changes } from '../../platform/events/changes.ts'
import { recordEvent } from '../../platform/events/record.ts'
import { readEmail } from '../../platform/mails/store.ts'
import { asRead, type StoredInvoice } from './invoice.ts'
import { readInvoice } from './reading/store.ts'

type Key = Pick<StoredInvoice, 'organizationId' | 'id'>

/** How the audit log names an invoice. */
export const audited = ({ organizationId, id }: Key) => ({ organizationId, resource: 'invoice', resourceId: id }) as const

interface Told {
	/** The invoice as it is stored now, where it is at hand. */
	readonly data?: string
	/** Of `invoice.updated`. */
	readonly changes?: Changes
}

/** Records events with the invoice as it is stored now. */
export async function recordInvoiceEvents(
	write: WriteContext,
	invoice: Key,
	types: readonly EventType[],
	{ changes, ...told }: Told = {},
): Promise<void> {
	if (types.length === 0) return
	const { organizationId, id: resourceId } = invoice
	const data = told.data ?? (await invoiceNow(write, invoice))
	await forEachRow(write.db, types, (type) => {
		const extra = type === 'invoice.updated' && changes ? { changes } : {}
		return recordEvent(write.db, write.origin, { type, organizationId, resource: 'invoice', resourceId, data, ...extra })
	})
}

/** The invoice as JSON text, as `invoiceNow` would read it once it is stored. */
export function textOf({ origin, organization }: WriteContext, invoice: StoredInvoice): string {
	const read: Readonly<Record<string, unknown>> = { ...asRead(invoice, todayIn(organization.timeZone, origin.now)) }
	return JSON.stringify(Object.fromEntries(names.map((name) => [name, read[name]])))
}

const names = Object.keys(fields.Invoice)

/** The invoice as it is stored now, as JSON text. */
export async function invoiceNow({ db, origin, organization }: WriteContext, { organizationId, id }: Key): Promise<string> {
	const found = await readInvoice(db, organizationId, id, todayIn(organization.timeZone, origin.now))
	if (!found) throw new Error(`invoice ${id} is gone`)
	return found.json
}

/** Records an event about an e-mail of an invoice, with both as they are stored now. */
export async function recordEmailEvent(
	write: WriteContext,
	type: 'invoice.send_failed' | 'invoice.perhaps_sent',
	{ organizationId, id }: Key,
	mailId: string,
): Promise<void> {
	const { db, origin } = write
	const invoice = await invoiceNow(write, { organizationId, id })
	const email = await readEmail(db, { organizationId, id: mailId })
	const data = `${invoice.slice(0, -1)},"email":${email}}`
	await recordEvent(db, origin, { type, organizationId, resource: 'invoice', resourceId: id, data })
}
