import { historyHandler } from '../audit/history.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { changeContact, contacts, createContact, readContacts, removeContact } from './store.ts'

export const { list, get, create, update, remove } = recordHandlers({ ...contacts, readPage: readContacts }, '/api/contacts', {
	create: createContact,
	change: changeContact,
	remove: removeContact,
})

export const history = historyHandler(contacts)
