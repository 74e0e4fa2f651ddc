import type { Contact, ContactCreate, ContactUpdate } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { newId } from '../../platform/base/ids.ts'
import { type ListFilter, records } from '../../platform/db/records.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'
import type { Instants } from '../../platform/lists/dates.ts'
import { filterBy } from '../../platform/lists/filters.ts'
import { companies } from '../companies/store.ts'
import { type Searched, type SearchText, searchedPage } from '../search/lists.ts'
import { searchTexts, withSearchText } from '../search/texts.ts'

type Filter = Instants<ListFilter<'contacts.list'>, 'updatedSince'>

export const contacts = records<Contact, Searched<Filter>, SearchText>({
	name: 'contact',
	table: 'contacts',
	fields: fields.Contact,
	softDelete: true,
	filter: filterBy('contacts', { email: ['email', 'in any case'], updatedSince: ['updatedAt', '>='] }),
	sparse: (column) => (column === 'updatedAt' ? ['companyId', 'email'] : []),
})

const readSearched = searchedPage<Filter>('contacts', contacts)

export const readContacts: typeof readSearched = (db, organizationId, { email, ...query }) =>
	readSearched(db, organizationId, { ...query, ...(email !== undefined && { email: email.toLowerCase() }) })

const record = eventsAbout<Contact, `contact.${'created' | 'updated' | 'deleted'}`>('contact')

export async function createContact(write: WriteContext, input: ContactCreate): Promise<Contact> {
	const { db, origin, organization } = write
	const { now } = origin
	if (input.companyId) await companies.require(db, organization.id, input.companyId, '/companyId')
	const systemFields = { organizationId: organization.id, id: newId('ct'), createdAt: now, updatedAt: now, version: 1 }
	const contact: Contact = { ...blanks.Contact, ...input, ...systemFields }
	const data = await contacts.insert(write, contact, { searchText: searchTexts.contacts(contact) })
	await record(db, origin, 'contact.created', contact, { data })
	return contact
}

/** Changes a contact that was read with `lock`. The contact may keep a company that was deleted meanwhile. */
export async function changeContact(write: WriteContext, stored: Contact, input: ContactUpdate): Promise<Contact> {
	const { db, origin } = write
	const { companyId } = input
	if (companyId && companyId !== stored.companyId) await companies.require(db, stored.organizationId, companyId, '/companyId')
	const contact = await contacts.update(write, stored, withSearchText('contacts', stored, input))
	if (contact !== stored) await record(db, origin, 'contact.updated', contact, { before: stored })
	return contact
}

/** Soft-deletes a contact that was read with `lock`. */
export async function removeContact(write: WriteContext, stored: Contact): Promise<void> {
	const { db, origin } = write
	const contact = await contacts.update(write, stored, { deletedAt: origin.now }, 'deleted')
	await record(db, origin, 'contact.deleted', contact)
}
