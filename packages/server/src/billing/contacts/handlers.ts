import { historyHandler } from '../../platform/audit/history.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { recordHandlers } from '../../platform/http/record-handlers.ts'
import { withInstants } from '../../platform/lists/dates.ts'
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
