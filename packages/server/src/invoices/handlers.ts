import { historyHandler } from '../audit/history.ts'
import { todayIn } from '../base/dates.ts'
import type { Invoice } from '../generated/contract.ts'
import { dataText, listText } from '../http/answers.ts'
import { etag } from '../http/etag.ts'
import { type Handler, writeContext } from '../http/handler.ts'
import { cursorsOf, lockForChange, removed } from '../http/record-handlers.ts'
import { createInvoiceOfTime, previewInvoiceOfTime } from './from-time-entries.ts'
import type { StoredInvoice } from './invoice.ts'
import { findInvoice, invoiceNotFound, lockInvoice, readInvoice, readInvoices } from './store.ts'
import { changeInvoice, createInvoice, deleteInvoice, previewInvoice } from './write.ts'

/** Its answer has no `meta`: the next page is in `Link` alone. */
export const list: Handler<'invoices.list'> = async (call, context) => {
	const { limit, offset, cursor, ...filters } = call.query
	const { organizationId, organization } = call.caller
	const today = todayIn(organization.timeZone, context.now)
	const cursors = cursorsOf('invoice', call, context)
	const page = { limit, offset, after: cursors.after() }
	const { rows, end } = await readInvoices(context.db, { ...filters, organizationId }, page, today)
	return { status: 200, next: end ? cursors.seal(end) : null, body: listText<Invoice>(rows) }
}

export const create: Handler<'invoices.create'> = async ({ body = {}, caller }, context) =>
	created(await createInvoice(writeContext(context, caller), body))

export const createFromTimeEntries: Handler<'invoices.createFromTimeEntries'> = async ({ body, caller }, context) =>
	created(await createInvoiceOfTime(writeContext(context, caller), body))

const created = ({ id, invoiceNumber, version }: StoredInvoice) => ({
	status: 201 as const,
	headers: { Location: `/api/invoices/${id}`, ETag: etag(version) },
	body: { id, invoiceNumber },
})

export const preview: Handler<'invoices.preview'> = async ({ body = {}, caller }, context) =>
	previewed(await previewInvoice(writeContext(context, caller), body))

export const previewFromTimeEntries: Handler<'invoices.previewFromTimeEntries'> = async ({ body, caller }, context) =>
	previewed(await previewInvoiceOfTime(writeContext(context, caller), body))

function previewed(invoice: StoredInvoice) {
	const { currency, taxRounding, subtotalCents, taxCents, totalCents, taxBreakdown } = invoice
	const lineItems = invoice.lineItems.map(({ id, ...line }) => line)
	return {
		status: 200 as const,
		body: { data: { currency, taxRounding, lineItems, subtotalCents, taxCents, totalCents, taxBreakdown } },
	}
}

export const get: Handler<'invoices.get'> = async ({ params, caller }, { db, now }) => {
	const invoice = await readInvoice(db, caller.organizationId, params.id, todayIn(caller.organization.timeZone, now))
	if (!invoice) throw invoiceNotFound(params.id)
	const { version, viewCount, overdue } = invoice
	const tag = etag(version, `${viewCount > 0 ? `-viewed${viewCount}` : ''}${overdue ? '-overdue' : ''}`)
	return { status: 200, headers: { ETag: tag }, body: dataText<Invoice>(invoice.json) }
}

export const history = historyHandler({ kind: 'invoice', find: findInvoice, notFound: invoiceNotFound })

const lock = lockForChange({ lock: lockInvoice, notFound: invoiceNotFound })

export const update: Handler<'invoices.update'> = async (call, context) => {
	const stored = await lock(call, context.db)
	const { version, stageAdvanced } = await changeInvoice(writeContext(context, call.caller), stored, call.body)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true, ...(stageAdvanced && { stageAdvanced }) } }
}

export const remove: Handler<'invoices.delete'> = async (call, context) => {
	await deleteInvoice(writeContext(context, call.caller), await lock(call, context.db))
	return removed
}
