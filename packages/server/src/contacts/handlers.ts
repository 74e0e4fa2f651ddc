import { type Handler, writeContext } from '../http/handler.ts'
import { recordHandlers, removed } from '../http/record-handlers.ts'
import { changeContact, contacts, createContact, removeContact } from './store.ts'

const handlers = recordHandlers(contacts, '/api/contacts')

export const list: Handler<'contacts.list'> = handlers.list

export const get: Handler<'contacts.get'> = handlers.get

export const create: Handler<'contacts.create'> = async ({ body, caller }, context) =>
	handlers.created(await createContact(writeContext(context, caller), body))

export const update: Handler<'contacts.update'> = async (call, context) => {
	const stored = await handlers.lock(call, context.db)
	return handlers.changed(await changeContact(writeContext(context, call.caller), stored, call.body))
}

export const remove: Handler<'contacts.delete'> = async (call, context) => {
	await removeContact(writeContext(context, call.caller), await handlers.lock(call, context.db))
	return removed
}
