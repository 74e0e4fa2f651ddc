import { historyHandler } from '../audit/history.ts'
import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { withInstants } from '../lists/dates.ts'
import { changeContact, contacts, createContact, readContacts, removeContact } from './store.ts'

const handlers = recordHandlers({ ...contacts, readPage: readContacts }, '/api/contacts', {
	create: createContact,
	change: changeContact,
	remove: removeContact,
})

export const { get, create, update, remove } = handlers

export const list: Handler<'contacts.list'> = ({ query, caller }, context) => {
	const since = withInstants(query, caller.organization.timeZone, { begin: ['updatedSince'] })
	return handlers.list({ query: since, caller }, context)
}

export const history = historyHandler(contacts)
