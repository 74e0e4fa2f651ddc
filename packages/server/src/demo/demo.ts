// A small agency with clients, deals and invoices in every status, so that the first look at the API shows something. All
// goes through the same functions as a request.

import { scopes } from '../auth/keys.ts'
import { insertKey } from '../auth/store.ts'
import { insertCompany } from '../companies/store.ts'
import { dayMs } from '../dates.ts'
import type { Database, Db } from '../db.ts'
import { insertDeal } from '../deals/store.ts'
import type { InvoiceInput } from '../generated/contract.ts'
import { newId } from '../ids.ts'
import { blankInvoice, writeInvoice } from '../invoices/draft.ts'
import { insertNumbered } from '../invoices/numbering.ts'
import { withParties } from '../invoices/parties.ts'
import { insertInvoice } from '../invoices/store.ts'
import { insertOrganization } from '../organizations/store.ts'
import { clients, type DemoInvoice } from './data.ts'

export interface Demo {
	readonly organizationId: string
	/** An API key with every scope. */
	readonly key: string
}

export function createDemo(db: Database, now: number): Promise<Demo> {
	return db.transaction(async (tx) => {
		const { organizationId } = await insertOrganization(tx, { name: 'Northlight Studio', timeZone: 'Europe/Berlin', now })
		for (const { company, deals } of clients) {
			const { id: companyId } = await insertCompany(tx, organizationId, company, now)
			for (const { invoices, ...deal } of deals) {
				const dealId = await insertDeal(tx, organizationId, { ...deal, companyId }, now)
				for (const invoice of invoices)
					await createInvoice(tx, organizationId, { companyId, dealId, currency: deal.currency }, invoice, now)
			}
		}
		const { key } = await insertKey(tx, organizationId, { name: 'demo', scopes, now })
		return { organizationId, key }
	})
}

async function createInvoice(
	db: Db,
	organizationId: string,
	defaults: InvoiceInput,
	{ daysAgo, dueInDays = 30, status, ...input }: DemoInvoice,
	now: number,
): Promise<void> {
	const written = now - daysAgo * dayMs
	const dueDate = Math.floor(written / dayMs) * dayMs + dueInDays * dayMs
	const blank = blankInvoice(organizationId, newId('inv'), 'document', written)
	const draft = writeInvoice(blank, { ...defaults, dueDate, ...input }, written)
	const sent = status === 'draft' ? draft : await withParties(db, writeInvoice(draft, { status: 'sent' }, written))
	const last =
		status === 'draft' || status === 'sent' ? sent : writeInvoice(sent, { status }, Math.min(now, written + 20 * dayMs))
	await insertNumbered(db, last, insertInvoice)
}
