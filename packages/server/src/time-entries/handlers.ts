import { type Handler, writeContext } from '../http/handler.ts'
import { recordHandlers, removed } from '../http/record-handlers.ts'
import { changeTimeEntry, createTimeEntry, removeTimeEntry, timeEntries } from './store.ts'

const handlers = recordHandlers(timeEntries, '/api/time-entries')

export const list: Handler<'timeEntries.list'> = handlers.list

export const get: Handler<'timeEntries.get'> = handlers.get

export const create: Handler<'timeEntries.create'> = async ({ body, caller }, context) =>
	handlers.created(await createTimeEntry(writeContext(context, caller), body))

export const update: Handler<'timeEntries.update'> = async (call, context) => {
	const stored = await handlers.lock(call, context.db)
	return handlers.changed(await changeTimeEntry(writeContext(context, call.caller), stored, call.body))
}

export const remove: Handler<'timeEntries.delete'> = async (call, context) => {
	await removeTimeEntry(writeContext(context, call.caller), await handlers.lock(call, context.db))
	return removed
}
