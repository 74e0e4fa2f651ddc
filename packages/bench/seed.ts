// Writes the rows of every server through Remit's own stores, so that they are the rows that its API would write.
import { createKey } from '../server/src/accounts/api-keys/store.ts'
import { createCompany } from '../server/src/billing/companies/store.ts'
import { applyInput } from '../server/src/billing/invoices/apply.ts'
import { blankInvoice } from '../server/src/billing/invoices/invoice.ts'
import { advanceCounter } from '../server/src/billing/invoices/numbers/store.ts'
import { snapshotOf } from '../server/src/billing/invoices/snapshot.ts'
import { insertInvoiceIfFree } from '../server/src/billing/invoices/store.ts'
import type { InvoiceInput, InvoiceStatus, OrganizationSettings } from '../server/src/generated/contract.ts'
import { createOrganization } from '../server/src/introductions.ts'
import { dayMs, todayIn } from '../server/src/platform/base/dates.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import type { Database, Db } from '../server/src/platform/db/database.ts'
import { withoutOrder } from '../server/src/platform/db/write-context.ts'
import { companyOf } from './names.ts'

export interface Seed {
	readonly organizationId: string
	readonly key: string
	readonly invoiceIds: readonly string[]
}

export const invoiceCount = 10_000
const companyCount = 2_000

/** The rows, described in the report. */
export const seeded = `${invoiceCount.toLocaleString('en')} invoices (of 10: 4 paid, 2 sent, 2 draft, 1 overdue, 1 cancelled; half with a due
date, 1 of 20 with three line items, those once sent with both parties), ${companyCount.toLocaleString('en')} companies; a second organization with a tenth of that`

export async function seed(db: Database): Promise<Seed> {
	const now = Date.now()
	await organization(db, 'Second', companyCount / 10, invoiceCount / 10, now)
	const { organizationId, invoiceIds } = await organization(db, 'First', companyCount, invoiceCount, now)
	const { key } = await db.transaction((tx) =>
		createKey({ db: tx, origin: bySystem(now) }, organizationId, {
			name: 'bench',
			scopes: ['companies:write', 'invoices:write'],
		}),
	)
	return { organizationId, key, invoiceIds }
}

async function organization(db: Database, name: string, companies: number, invoices: number, now: number) {
	return db.transaction(async (tx) => {
		const organization = await createOrganization(tx, bySystem(now), { name, defaultCurrency: 'EUR' })
		const companyIds: string[] = []
		for (let n = 0; n < companies; n++) {
			const origin = withoutOrder(bySystem(now - (companies - n) * 60_000))
			const { id } = await createCompany({ db: tx, origin, organization }, companyOf(n))
			companyIds.push(id)
		}
		const invoiceIds: string[] = []
		for (let n = 0; n < invoices; n++) {
			const written = now - (invoices - n) * 600_000
			invoiceIds.push(await invoice(tx, organization, companyIds[n % companies] as string, n, written))
		}
		await advanceCounter(tx, organization.id, numberOf(invoices - 1), organization, {
			invoiceId: null,
			skippedBy: 'bench',
			skippedAt: now,
		})
		return { organizationId: organization.id, invoiceIds }
	})
}

const statuses: readonly InvoiceStatus[] = [
	'paid',
	'sent',
	'draft',
	'paid',
	'overdue',
	'paid',
	'sent',
	'draft',
	'paid',
	'cancelled',
]

const numberOf = (n: number) => `INV-${String(n + 1).padStart(4, '0')}`

async function invoice(db: Db, settings: OrganizationSettings, companyId: string, n: number, written: number): Promise<string> {
	const blank = blankInvoice(settings, written)
	// By tens, not by `n`, so that due dates and line items do not depend on the status.
	const tens = Math.floor(n / 10)
	const status = statuses[n % statuses.length] as InvoiceStatus
	// What is past due would be marked as overdue beside what is measured.
	const daysToPay = status === 'sent' ? 3_650 : 30
	const dueDate = tens % 2 === 0 ? (Math.floor(written / dayMs) + daysToPay) * dayMs : null
	const amounts: InvoiceInput = tens % 20 === 7 ? { taxRate: 19, lineItems } : { totalCents: 5_000 + ((n * 7_919) % 900_000) }
	const at = (now: number) => ({ now, today: todayIn(settings.timeZone, now) })
	const draft = applyInput(blank, { companyId, dueDate, currency: 'EUR', ...amounts }, at(written))
	const sent =
		status === 'draft'
			? draft
			: {
					...applyInput(draft, { status: 'sent', paymentTerms: '30 days net' }, at(written)),
					...(await snapshotOf(db, draft)),
				}
	const last = status === 'draft' || status === 'sent' ? sent : applyInput(sent, { status }, at(written + dayMs))
	await insertInvoiceIfFree(db, { ...last, invoiceNumber: numberOf(n) })
	return last.id
}

const lineItems: InvoiceInput['lineItems'] = [
	{ description: 'Discovery workshop', quantity: '2', unit: 'day', unitPriceCents: 118_000 },
	{ description: 'Interface audit', quantity: '14.5', unit: 'hour', unitPriceCents: 11_000 },
	{ description: 'Travel', quantity: '1', unitPriceCents: 32_450 },
]
