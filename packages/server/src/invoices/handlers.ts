import type { Handler } from '../api.ts'
import type { Caller } from '../auth/caller.ts'
import { findCompany } from '../companies/store.ts'
import { todayIn } from '../dates.ts'
import { type Db, UniqueViolation } from '../db.ts'
import { advanceDealOnPayment, dealExists } from '../deals/store.ts'
import { ApiError, fieldError } from '../errors.ts'
import { etag } from '../etag.ts'
import type { Invoice } from '../generated/contract.ts'
import { newId } from '../ids.ts'
import { dataText, listText } from '../json.ts'
import { blankInvoice, type StoredInvoice, writeInvoice } from './draft.ts'
import { insertNumbered, insertTombstone, isBuried, noteNumber } from './numbering.ts'
import { withParties } from './parties.ts'
import { becomesPaid, isFirstSent } from './status.ts'
import { findInvoice, insertInvoice, listInvoices, lockInvoice, removeInvoice, updateInvoice } from './store.ts'

const notFound = (id: string) => new ApiError('invoice_not_found', `There is no invoice ${id}.`)

export const list: Handler<'invoices.list'> = async ({ query, caller }, { db, now }) => {
	const rows = await listInvoices(db, caller.organizationId, query, todayIn(caller.timeZone, now))
	return { status: 200, body: listText<Invoice>(rows) }
}

export const create: Handler<'invoices.create'> = async ({ body = {}, caller }, { db, now }) => {
	const blank = blankInvoice(caller.organizationId, newId('inv'), caller.taxRounding, now)
	let invoice = writeInvoice(blank, body, now)
	await refuseUnknownReferences(db, blank, invoice)
	if (isFirstSent(blank, invoice)) invoice = await withParties(db, invoice)
	if (body.invoiceNumber === undefined) invoice = await insertNumbered(db, invoice, insertInvoice)
	else {
		await claimNumber(db, invoice)
		if (!(await insertInvoice(db, invoice))) throw numberTaken(invoice.invoiceNumber)
	}
	const { id, invoiceNumber, version } = invoice
	return { status: 201, headers: { Location: `/api/invoices/${id}`, ETag: etag(version) }, body: { id, invoiceNumber } }
}

export const preview: Handler<'invoices.preview'> = async ({ body = {}, caller }, { db, now }) => {
	const blank = blankInvoice(caller.organizationId, newId('inv'), caller.taxRounding, now)
	const invoice = writeInvoice(blank, body, now)
	await refuseUnknownReferences(db, blank, invoice)
	const { currency, taxRounding, subtotalCents, taxCents, totalCents, taxBreakdown } = invoice
	const lineItems = invoice.lineItems.map(({ id, ...line }) => line)
	return { status: 200, body: { data: { currency, taxRounding, lineItems, subtotalCents, taxCents, totalCents, taxBreakdown } } }
}

export const get: Handler<'invoices.get'> = async ({ params, caller }, { db, now }) => {
	const invoice = await findInvoice(db, caller.organizationId, params.id, todayIn(caller.timeZone, now))
	if (!invoice) throw notFound(params.id)
	const tag = etag(invoice.version, invoice.overdue ? '-overdue' : '')
	return { status: 200, headers: { ETag: tag }, body: dataText<Invoice>(invoice.json) }
}

export const update: Handler<'invoices.update'> = async ({ params, body, caller, expectVersion }, { db, now }) => {
	const stored = await lock(db, caller, params.id, expectVersion)
	let invoice: StoredInvoice = { ...writeInvoice(stored, body, now), version: stored.version + 1 }
	await refuseUnknownReferences(db, stored, invoice)
	if (isFirstSent(stored, invoice)) invoice = await withParties(db, invoice)
	if (invoice.invoiceNumber !== stored.invoiceNumber) await claimNumber(db, invoice)
	await updateInvoice(db, invoice).catch((error) => {
		throw error instanceof UniqueViolation ? numberTaken(invoice.invoiceNumber) : error
	})
	const advances = becomesPaid(stored, invoice) && invoice.dealId !== null
	const stageAdvanced = advances
		? await advanceDealOnPayment(db, caller.organizationId, invoice.dealId as string, now)
		: undefined
	return { status: 200, headers: { ETag: etag(invoice.version) }, body: { ok: true, ...(stageAdvanced && { stageAdvanced }) } }
}

export const remove: Handler<'invoices.delete'> = async ({ params, caller, expectVersion }, { db, now }) => {
	const { organizationId, id, invoiceNumber, totalCents, currency } = await lock(db, caller, params.id, expectVersion)
	await removeInvoice(db, organizationId, id)
	await insertTombstone(db, {
		organizationId,
		invoiceId: id,
		invoiceNumber,
		totalCents,
		currency,
		deletedBy: caller.keyId,
		deletedAt: now,
	})
	return { status: 200, body: { ok: true } }
}

async function lock(db: Db, caller: Caller, id: string, expectVersion: (version: number) => void): Promise<StoredInvoice> {
	const stored = await lockInvoice(db, caller.organizationId, id)
	if (!stored) throw notFound(id)
	expectVersion(stored.version)
	return stored
}

/** A deal or company that is newly named must be one of the organization; one that was deleted since stays. */
async function refuseUnknownReferences(
	db: Db,
	before: StoredInvoice,
	{ organizationId, dealId, companyId }: StoredInvoice,
): Promise<void> {
	if (dealId !== null && dealId !== before.dealId && !(await dealExists(db, organizationId, dealId))) {
		throw fieldError('unknown_deal', '/dealId', `There is no deal ${dealId}.`)
	}
	if (companyId !== null && companyId !== before.companyId && !(await findCompany(db, organizationId, companyId))) {
		throw fieldError('unknown_company', '/companyId', `There is no company ${companyId}.`)
	}
}

/** Checks a caller's own number; whether a live invoice has it is for the unique index to say. */
async function claimNumber(db: Db, { organizationId, invoiceNumber }: StoredInvoice): Promise<void> {
	if (await isBuried(db, organizationId, invoiceNumber)) throw numberTaken(invoiceNumber)
	await noteNumber(db, organizationId, invoiceNumber)
}

const numberTaken = (invoiceNumber: string) =>
	fieldError('invoice_number_taken', '/invoiceNumber', `The number ${invoiceNumber} is, or was, another invoice's.`)
