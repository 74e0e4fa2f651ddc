import { newId } from '../base/ids.ts'
import { companies } from '../companies/store.ts'
import { type ListFilter, records } from '../db/records.ts'
import type { WriteContext } from '../db/write-context.ts'
import type { Contact, ContactCreate, ContactUpdate } from '../generated/contract.ts'
import { blanks, fields } from '../generated/tables.ts'

export const contacts = records<Contact, ListFilter<'contacts.list'>>({
	name: 'contact',
	table: 'contacts',
	fields: fields.Contact,
	softDelete: true,
})

export async function createContact({ db, origin, organization }: WriteContext, input: ContactCreate): Promise<Contact> {
	const { now } = origin
	if (input.companyId) await companies.require(db, organization.id, input.companyId, '/companyId')
	const systemFields = { organizationId: organization.id, id: newId('ct'), createdAt: now, updatedAt: now, version: 1 }
	const contact: Contact = { ...blanks.Contact, ...input, ...systemFields }
	await contacts.insert(db, contact)
	return contact
}

/** Changes a contact that was read with `lock`. The contact may keep a company that was deleted meanwhile. */
export async function changeContact({ db, origin }: WriteContext, stored: Contact, input: ContactUpdate): Promise<Contact> {
	const { companyId } = input
	if (companyId && companyId !== stored.companyId) await companies.require(db, stored.organizationId, companyId, '/companyId')
	return contacts.update(db, stored, input, origin.now)
}

export const removeContact = ({ db, origin }: WriteContext, stored: Contact) =>
	contacts.update(db, stored, { deletedAt: origin.now }, origin.now)
