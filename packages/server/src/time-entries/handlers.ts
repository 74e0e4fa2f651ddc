import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { changeTimeEntry, createTimeEntry, removeTimeEntry, timeEntries } from './store.ts'

const handlers = recordHandlers(timeEntries, '/api/time-entries', {
	create: createTimeEntry,
	change: changeTimeEntry,
	remove: removeTimeEntry,
})

export const list: Handler<'timeEntries.list'> = handlers.list

export const get: Handler<'timeEntries.get'> = handlers.get

export const create: Handler<'timeEntries.create'> = handlers.create

export const update: Handler<'timeEntries.update'> = handlers.update

export const remove: Handler<'timeEntries.delete'> = handlers.remove
