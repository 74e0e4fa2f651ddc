import type { Caller } from '../auth/caller.ts'
import { todayIn } from '../base/dates.ts'
import { fieldError } from '../base/errors.ts'
import { companies } from '../companies/store.ts'
import type { Db } from '../db/database.ts'
import { deals } from '../deals/store.ts'
import type { Invoice, InvoiceInput, TaxRate } from '../generated/contract.ts'
import { dataText, listText } from '../http/answers.ts'
import { etag } from '../http/etag.ts'
import type { Context, Handler } from '../http/handler.ts'
import { requireOrganization } from '../organizations/store.ts'
import { taxRates, useTaxRates } from '../tax-rates/store.ts'
import { lockTimeEntries } from '../time-entries/store.ts'
import { applyInput, withAmounts } from './apply.ts'
import { charge, timeLines } from './from-time-entries.ts'
import { blankInvoice, type StoredInvoice } from './invoice.ts'
import { findInvoice, invoiceNotFound, listInvoices, lockInvoice } from './store.ts'
import { changeInvoice, createInvoice, deleteInvoice } from './write.ts'

const writing = ({ db, origin }: Pick<Context, 'db' | 'origin'>, { timeZone }: Caller) => ({ db, origin, timeZone })

export const list: Handler<'invoices.list'> = async ({ query, caller }, { db, now }) => {
	const rows = await listInvoices(db, caller.organizationId, query, todayIn(caller.timeZone, now))
	return { status: 200, body: listText<Invoice>(rows) }
}

export const create: Handler<'invoices.create'> = async ({ body = {}, caller }, context) => {
	const { db, now } = context
	const blank = blankInvoice(caller, now)
	const draft = applyInput(blank, body, now, await namedRates(db, caller.organizationId, body))
	await refuseUnknownReferences(db, blank, draft)
	await noteUse(db, blank, draft)
	return created(await createInvoice(writing(context, caller), blank, draft))
}

export const createFromTimeEntries: Handler<'invoices.createFromTimeEntries'> = async ({ body, caller }, context) => {
	const { db, now } = context
	const { dealId, timeEntryIds, groupBy = 'task', taxRateId, ...written } = body
	const { organizationId } = caller
	const deal = await deals.lock(db, organizationId, dealId)
	if (!deal) throw fieldError('unknown_deal', '/dealId', `There is no deal ${dealId}.`)
	const organization = await requireOrganization(db, organizationId)
	const taxRate = taxRateId ? await usableRate(db, organizationId, taxRateId, '/taxRateId') : undefined
	const entries = await lockTimeEntries(db, organizationId, timeEntryIds)
	const charged = charge({ ids: timeEntryIds, entries, deal, organization })
	const blank = blankInvoice(caller, now)
	const draft = applyInput(blank, { dealId, companyId: deal.companyId, currency: deal.currency, ...written }, now)
	const invoice = { ...draft, ...withAmounts(draft, timeLines(charged, groupBy, taxRate), {}, () => '/timeEntryIds') }
	await noteUse(db, blank, invoice)
	return created(await createInvoice(writing(context, caller), blank, invoice))
}

const created = ({ id, invoiceNumber, version }: StoredInvoice) => ({
	status: 201 as const,
	headers: { Location: `/api/invoices/${id}`, ETag: etag(version) },
	body: { id, invoiceNumber },
})

export const preview: Handler<'invoices.preview'> = async ({ body = {}, caller }, { db, now }) => {
	const blank = blankInvoice(caller, now)
	const invoice = applyInput(blank, body, now, await namedRates(db, caller.organizationId, body))
	await refuseUnknownReferences(db, blank, invoice)
	const { currency, taxRounding, subtotalCents, taxCents, totalCents, taxBreakdown } = invoice
	const lineItems = invoice.lineItems.map(({ id, ...line }) => line)
	return { status: 200, body: { data: { currency, taxRounding, lineItems, subtotalCents, taxCents, totalCents, taxBreakdown } } }
}

export const get: Handler<'invoices.get'> = async ({ params, caller }, { db, now }) => {
	const invoice = await findInvoice(db, caller.organizationId, params.id, todayIn(caller.timeZone, now))
	if (!invoice) throw invoiceNotFound(params.id)
	const { version, viewCount, overdue } = invoice
	const tag = etag(version, `${viewCount > 0 ? `-viewed${viewCount}` : ''}${overdue ? '-overdue' : ''}`)
	return { status: 200, headers: { ETag: tag }, body: dataText<Invoice>(invoice.json) }
}

export const update: Handler<'invoices.update'> = async ({ params, body, caller, expectVersion }, context) => {
	const { db, now } = context
	const stored = await lock(db, caller, params.id, expectVersion)
	const draft = applyInput(stored, body, now, await namedRates(db, caller.organizationId, body, stored))
	await refuseUnknownReferences(db, stored, draft)
	await noteUse(db, stored, draft)
	const { version, stageAdvanced } = await changeInvoice(writing(context, caller), stored, draft)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true, ...(stageAdvanced && { stageAdvanced }) } }
}

export const remove: Handler<'invoices.delete'> = async ({ params, caller, expectVersion }, context) => {
	await deleteInvoice(writing(context, caller), await lock(context.db, caller, params.id, expectVersion))
	return { status: 200, body: { ok: true } }
}

async function lock(db: Db, caller: Caller, id: string, expectVersion: (version: number) => void): Promise<StoredInvoice> {
	const stored = await lockInvoice(db, caller.organizationId, id)
	if (!stored) throw invoiceNotFound(id)
	expectVersion(stored.version)
	return stored
}

/** A deal or company that is newly named must be one of the organization; one that was deleted since stays. */
async function refuseUnknownReferences(
	db: Db,
	before: StoredInvoice,
	{ organizationId, dealId, companyId }: StoredInvoice,
): Promise<void> {
	if (dealId !== null && dealId !== before.dealId && !(await deals.exists(db, organizationId, dealId))) {
		throw fieldError('unknown_deal', '/dealId', `There is no deal ${dealId}.`)
	}
	if (companyId !== null && companyId !== before.companyId && !(await companies.exists(db, organizationId, companyId))) {
		throw fieldError('unknown_company', '/companyId', `There is no company ${companyId}.`)
	}
}

/** The saved tax rates that lines newly name; a line that has one keeps it, archived or not. */
async function namedRates(
	db: Db,
	organizationId: string,
	{ lineItems = [] }: InvoiceInput,
	stored?: StoredInvoice,
): Promise<ReadonlyMap<string, TaxRate>> {
	const kept = new Map(stored?.lineItems.map((line) => [line.id, line.taxRateId]))
	const rates = new Map<string, TaxRate>()
	for (const [index, { id, taxRateId }] of lineItems.entries()) {
		if (!taxRateId || rates.has(taxRateId) || (id !== undefined && kept.get(id) === taxRateId)) continue
		rates.set(taxRateId, await usableRate(db, organizationId, taxRateId, `/lineItems/${index}/taxRateId`))
	}
	return rates
}

async function usableRate(db: Db, organizationId: string, id: string, pointer: string): Promise<TaxRate> {
	const rate = await taxRates.lock(db, organizationId, id)
	if (!rate) throw fieldError('unknown_tax_rate', pointer, `There is no tax rate ${id}.`)
	if (!rate.active) throw fieldError('tax_rate_archived', pointer, `The tax rate ${id} is archived.`)
	return rate
}

/** From now on the rates that lines have stay as they are. */
async function noteUse(db: Db, before: StoredInvoice, { organizationId, lineItems }: StoredInvoice): Promise<void> {
	const known = new Set(before.lineItems.map(({ taxRateId }) => taxRateId))
	const ids = lineItems.flatMap(({ taxRateId }) => (taxRateId === null || known.has(taxRateId) ? [] : taxRateId))
	if (ids.length > 0) await useTaxRates(db, organizationId, ids)
}
