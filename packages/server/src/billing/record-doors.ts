// The doors to the records of billing, for contexts that do not know them: what they write goes the way of the handlers.
import type { Company, CompanyCreate, InvoiceInput } from '../generated/contract.ts'
import { todayIn } from '../platform/base/dates.ts'
import { parseRows } from '../platform/db/pages.ts'
import type { Locked, Reading, RecordDoor, RecordDoors, Shown } from '../platform/db/record-door.ts'
import type { WriteContext } from '../platform/db/write-context.ts'
import { changeCompany, companies, createCompany, removeCompany, restoreCompany } from './companies/store.ts'
import { asRead, type StoredInvoice } from './invoices/invoice.ts'
import { readInvoices } from './invoices/reading/store.ts'
import { findInvoice, lockInvoice, requireInvoice } from './invoices/store.ts'
import { changeInvoice, createInvoice, deleteInvoice, previewChange, previewInvoice } from './invoices/write.ts'

const company: RecordDoor = {
	find: async (db, { organization }, id) => shownCompany(await companies.find(db, organization.id, id)),
	async newest(db, { organization }, limit) {
		const order = { column: 'createdAt', direction: 'desc' } as const
		return parseRows((await companies.readRows(db, organization.id, { limit, offset: 0 }, order)).rows)
	},
	lock: async (write, id) => lockedCompany(write, await companies.lock(write.db, write.organization.id, id)),
	restore: async (write, id) => lockedCompany(write, await restoreCompany(write, id)),
	create: async (write, input) => (await createCompany(write, input as unknown as CompanyCreate)) as unknown as Shown,
	tryCreate: async () => {},
	async tryChange({ db, organization }, id, input) {
		const stored = await companies.find(db, organization.id, id)
		return stored && { before: { ...stored }, after: { ...stored, ...input } }
	},
	events: ['company.created', 'company.updated', 'company.deleted', 'company.restored'],
}

const lockedCompany = (write: WriteContext, stored: Company | undefined): Locked | undefined =>
	stored && {
		shown: stored as unknown as Shown,
		change: async (input) => (await changeCompany(write, stored, input)) as unknown as Shown,
		remove: () => removeCompany(write, stored),
	}

const shownCompany = (record: Company | undefined) => record as unknown as Shown | undefined

const today = ({ organization, origin }: Reading) => todayIn(organization.timeZone, origin.now)

const shownInvoice = (reading: Reading, invoice: StoredInvoice) => asRead(invoice, today(reading)) as unknown as Shown

const invoice: RecordDoor = {
	async find(db, reading, id) {
		const found = await findInvoice(db, reading.organization.id, id)
		return found && shownInvoice(reading, found)
	},
	async newest(db, reading, limit) {
		const filter = { organizationId: reading.organization.id }
		const { rows } = await readInvoices(db, filter, { limit, offset: 0 }, today(reading))
		if ('length' in rows) return parseRows(rows)
		const found: Shown[] = []
		for await (const text of rows) found.push(JSON.parse(text))
		return found
	},
	async lock(write, id) {
		const stored = await lockInvoice(write.db, write.organization.id, id)
		return (
			stored && {
				shown: shownInvoice(write, stored),
				async change(input) {
					await changeInvoice(write, stored, input as InvoiceInput)
					return shownInvoice(write, await requireInvoice(write.db, write.organization.id, id))
				},
				remove: () => deleteInvoice(write, stored),
			}
		)
	},
	create: async (write, input) => shownInvoice(write, await createInvoice(write, input as InvoiceInput)),
	tryCreate: async (write, input) => void (await previewInvoice(write, input as InvoiceInput)),
	async tryChange(write, id, input) {
		const stored = await findInvoice(write.db, write.organization.id, id)
		const changed = stored && (await previewChange(write, stored, input))
		return changed && { before: shownInvoice(write, stored), after: shownInvoice(write, changed) }
	},
	events: [
		'invoice.created',
		'invoice.updated',
		'invoice.sent',
		'invoice.partially_paid',
		'invoice.paid',
		'invoice.overdue',
		'invoice.cancelled',
		'invoice.deleted',
	],
}

export const recordDoors: RecordDoors = { company, invoice }
