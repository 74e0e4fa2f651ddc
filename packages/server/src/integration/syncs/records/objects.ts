// The doors through which a sync writes records of Remit: those that the handlers use.

import { changeCompany, companies, createCompany, removeCompany, restoreCompany } from '../../../billing/companies/store.ts'
import { asRead, type StoredInvoice } from '../../../billing/invoices/invoice.ts'
import { findInvoice, lockInvoice, requireInvoice } from '../../../billing/invoices/store.ts'
import { changeInvoice, createInvoice, deleteInvoice } from '../../../billing/invoices/write.ts'
import type { Company, CompanyCreate, EventType, InvoiceInput } from '../../../generated/contract.ts'
import { todayIn } from '../../../platform/base/dates.ts'
import type { Origin } from '../../../platform/base/origin.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import type { Output } from '../../mappings/outputs.ts'
import type { InternalObject } from '../../mappings/systems.ts'

/** A record as a GET answers it. */
export type Shown = Output & { readonly id: string; readonly updatedAt: number }

/** For whom a record is read, and when. */
interface Reading extends Pick<WriteContext, 'organization'> {
	readonly origin: Origin
}

/** A record that was read with `lock`. */
interface Locked {
	readonly shown: Shown
	change(input: Output): Promise<Shown>
	remove(): Promise<void>
}

interface Door {
	find(db: Db, reading: Reading, id: string): Promise<Shown | undefined>
	lock(write: WriteContext, id: string): Promise<Locked | undefined>
	create(write: WriteContext, input: Output): Promise<Shown>
	/** Brings a deleted record back, locked; undefined when it is none. Absent where what is deleted is gone for good. */
	restore?(write: WriteContext, id: string): Promise<Locked | undefined>
	/** The events that say that a record changed. */
	readonly events: readonly EventType[]
}

const company: Door = {
	find: async (db, { organization }, id) => shownCompany(await companies.find(db, organization.id, id)),
	lock: async (write, id) => lockedCompany(write, await companies.lock(write.db, write.organization.id, id)),
	restore: async (write, id) => lockedCompany(write, await restoreCompany(write, id)),
	create: async (write, input) => (await createCompany(write, input as unknown as CompanyCreate)) as unknown as Shown,
	events: ['company.created', 'company.updated', 'company.deleted', 'company.restored'],
}

const lockedCompany = (write: WriteContext, stored: Company | undefined): Locked | undefined =>
	stored && {
		shown: stored as unknown as Shown,
		change: async (input) => (await changeCompany(write, stored, input)) as unknown as Shown,
		remove: () => removeCompany(write, stored),
	}

const shownCompany = (record: Company | undefined) => record as unknown as Shown | undefined

const shownInvoice = ({ organization, origin }: Reading, invoice: StoredInvoice) =>
	asRead(invoice, todayIn(organization.timeZone, origin.now)) as unknown as Shown

const invoice: Door = {
	async find(db, reading, id) {
		const found = await findInvoice(db, reading.organization.id, id)
		return found && shownInvoice(reading, found)
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

export const doors: Readonly<Record<InternalObject, Door>> = { company, invoice }
