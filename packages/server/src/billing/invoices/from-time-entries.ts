// Invoices time entries: their time becomes the lines of a new invoice, which holds the entries from then on.

import { requireOrganization } from '../../accounts/doors.ts'
import type { TimeEntriesInvoice } from '../../generated/contract.ts'
import { fieldError } from '../../platform/base/errors.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { wordsOf } from '../../platform/rendering/words/languages.ts'
import { deals } from '../deals/store.ts'
import { lockTimeEntries } from '../time-entries/store.ts'
import type { StoredInvoice } from './invoice.ts'
import { requireUsableRate } from './named-rates.ts'
import { rateEntries, timeLines } from './pricing/time-lines.ts'
import { languageOf } from './snapshot.ts'
import { requireUnclaimed } from './time-claims.ts'
import { createInvoice, previewInvoice } from './write.ts'

export async function createInvoiceOfTime(write: WriteContext, request: TimeEntriesInvoice): Promise<StoredInvoice> {
	const { input, entries } = await chargeTime(write, request)
	return createInvoice(write, input, entries)
}

/** Computes the invoice that the request would create, and stores nothing. */
export async function previewInvoiceOfTime(write: WriteContext, request: TimeEntriesInvoice): Promise<StoredInvoice> {
	const { input, entries } = await chargeTime(write, request)
	requireUnclaimed(entries)
	return previewInvoice(write, input)
}

/** The input of an invoice that charges the time, and its entries. */
async function chargeTime(write: WriteContext, request: TimeEntriesInvoice) {
	const { db } = write
	const { dealId, timeEntryIds, groupBy = 'task', taxRateId, ...input } = request
	const deal = await deals.lock(db, write.organization.id, dealId)
	if (!deal) throw fieldError('unknown_deal', '/dealId', `There is no deal ${dealId}.`)
	const organization = await requireOrganization(db, write.organization.id)
	const taxRate = taxRateId ? await requireUsableRate(db, organization.id, taxRateId, '/taxRateId') : undefined
	const entries = await lockTimeEntries(db, organization.id, timeEntryIds)
	const charged = rateEntries({ ids: timeEntryIds, entries, deal, organization })
	const { companyId, currency } = deal
	// The new invoice takes its rounding from the same settings.
	const { time } = wordsOf(await languageOf(db, { organizationId: organization.id, companyId, language: input.language ?? null }))
	const lines = timeLines(charged, groupBy, taxRate, write.organization, time)
	return { entries, input: { dealId, companyId, currency, ...input, timeLines: lines } }
}
