import { newId } from '../base/ids.ts'
import type { Db } from '../db/database.ts'
import { records } from '../db/records.ts'
import type { Contact, ContactCreate } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'

export const contacts = records<Contact, { readonly companyId?: string }>('contacts', fields.Contact, { softDelete: true })

export async function insertContact(db: Db, organizationId: string, input: ContactCreate, now: number): Promise<Contact> {
	const contact = {
		email: null,
		phone: null,
		companyId: null,
		...input,
		organizationId,
		id: newId('ct'),
		createdAt: now,
		updatedAt: now,
		deletedAt: null,
		version: 1,
	}
	await contacts.insert(db, contact)
	return contact
}
