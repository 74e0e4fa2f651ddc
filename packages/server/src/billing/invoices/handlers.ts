import type { ExpandedInvoice, InvoiceExpansion, ListedInvoice } from '../../generated/contract.ts'
import { historyHandler } from '../../platform/audit/history.ts'
import type { Caller } from '../../platform/auth/caller.ts'
import { allows } from '../../platform/auth/keys.ts'
import { todayIn } from '../../platform/base/dates.ts'
import { listedError } from '../../platform/base/errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { dataText, listText } from '../../platform/http/answers.ts'
import { etag } from '../../platform/http/etag.ts'
import { type Handler, writeContext } from '../../platform/http/handler.ts'
import { cursorsOf, lockForChange, removed } from '../../platform/http/record-handlers.ts'
import { findInvoices } from '../search/invoices-store.ts'
import { mostChosen, mostFound } from '../search/store.ts'
import { createInvoiceOfTime, previewInvoiceOfTime } from './from-time-entries.ts'
import type { StoredInvoice } from './invoice.ts'
import { filterOf } from './reading/filter.ts'
import { shapeOf, whole } from './reading/invoice-json.ts'
import { listInvoices } from './reading/list.ts'
import { readInvoice } from './reading/store.ts'
import { documentWarnings } from './snapshot.ts'
import { findInvoice, invoiceNotFound, lockInvoice } from './store.ts'
import { changeInvoice, createInvoice, deleteInvoice, previewInvoice } from './write.ts'

/** Its answer has no `meta`: the next page is in `Link` alone. */
export const list: Handler<'invoices.list'> = async ({ query, caller }, context) => {
	const { limit, offset, cursor, sortBy, sortOrder, fields, expand, search, count = false, ...filters } = query
	requireReadable(caller, expand)
	const { organizationId, organization } = caller
	const today = todayIn(organization.timeZone, context.now)
	const filter = filterOf(filters, organizationId, organization.timeZone)
	// The default order is no part of a cursor: those of a server that had no other go on.
	const order = sortBy === 'createdAt' && sortOrder === 'desc' ? {} : { sortBy, sortOrder }
	const asked = { limit, offset, cursor, search, ...filters, ...order }
	const cursors = cursorsOf('invoice', { query: asked, caller }, context)
	const page = { limit, offset, after: cursors.after() }
	// Alone a search has the best of what it finds; in another order, or beside filters, all of it.
	const isChosen = [...Object.values(filters), ...Object.values(order)].some((value) => value !== undefined)
	const searched = { db: context.db, organizationId, most: isChosen ? mostChosen : mostFound, allOrNothing: isChosen }
	const found = await findInvoices(searched, search, allows(caller.scopes, ['companies:read']))
	const among = found && (isChosen && found.isCut ? { sieve: found.sieve } : { found: found.ids })
	const listed = { filter, ...among, sort: { sortBy, sortOrder }, page, shape: shapeOf(query), count }
	const { rows, end, total } = await listInvoices(context.db, listed, today)
	// A search that found more than it ranks knows no number.
	const isRanked = found?.isCut && !isChosen
	const headers = { ...(total !== null && !isRanked && { 'X-Total-Count': total }) }
	return { status: 200, headers, next: end ? cursors.seal(end) : null, body: listText<ListedInvoice>(rows) }
}

const scopeOf = { company: 'companies:read', deal: 'deals:read' } as const

/** Throws 403 when the key may not read the records to show beside their ids. */
function requireReadable({ scopes }: Caller, expand: readonly InvoiceExpansion[] = []): void {
	const missing = expand.filter((name) => !allows(scopes, [scopeOf[name]]))
	if (missing.length === 0) return
	const errors = missing.map((name) => ({
		parameter: 'expand',
		code: 'insufficient_scope',
		detail: `${name} needs the scope ${scopeOf[name]}`,
	}))
	throw listedError('insufficient_scope', 'The API key cannot expand this', errors)
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
	previewed(context, await previewInvoice(writeContext(context, caller), body))

export const previewFromTimeEntries: Handler<'invoices.previewFromTimeEntries'> = async ({ body, caller }, context) =>
	previewed(context, await previewInvoiceOfTime(writeContext(context, caller), body))

async function previewed({ db, now }: { readonly db: Db; readonly now: number }, invoice: StoredInvoice) {
	const { currency, taxRounding, subtotalCents, taxCents, totalCents, taxBreakdown } = invoice
	const lineItems = invoice.lineItems.map(({ id, ...line }) => line)
	const warnings = await documentWarnings(db, invoice, now)
	const data = { currency, taxRounding, lineItems, subtotalCents, taxCents, totalCents, taxBreakdown }
	return { status: 200 as const, body: { data: { ...data, ...(warnings.length > 0 && { warnings }) } } }
}

export const get: Handler<'invoices.get'> = async ({ params, query, caller }, { db, now }) => {
	requireReadable(caller, query.expand)
	const today = todayIn(caller.organization.timeZone, now)
	const shape = shapeOf(query)
	const invoice = await readInvoice(db, caller.organizationId, params.id, today, shape)
	if (!invoice) throw invoiceNotFound(params.id)
	const { version, viewCount, overdue, json } = invoice
	const views = viewCount > 0 ? `-viewed${viewCount}` : ''
	const tag = etag(version, `${views}${overdue ? '-overdue' : ''}${shape === whole ? '' : versionsIn(json)}`)
	return { status: 200, headers: { ETag: tag }, body: dataText<ExpandedInvoice>(json) }
}

/** The versions of the records that an invoice is shown with: an answer with them changes when they do. */
function versionsIn(json: string): string {
	const { company, deal } = JSON.parse(json) as ExpandedInvoice
	return `${company ? `-company${company.version}` : ''}${deal ? `-deal${deal.version}` : ''}`
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
