import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { changeContact, contacts, createContact, removeContact } from './store.ts'

const handlers = recordHandlers(contacts, '/api/contacts', {
	create: createContact,
	change: changeContact,
	remove: removeContact,
})

export const list: Handler<'contacts.list'> = handlers.list

export const get: Handler<'contacts.get'> = handlers.get

export const create: Handler<'contacts.create'> = handlers.create

export const update: Handler<'contacts.update'> = handlers.update

export const remove: Handler<'contacts.delete'> = handlers.remove
