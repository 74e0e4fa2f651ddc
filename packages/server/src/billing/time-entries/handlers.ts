import { historyHandler } from '../../platform/audit/history.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { recordHandlers } from '../../platform/http/record-handlers.ts'
import { withInstants } from '../../platform/lists/dates.ts'
import { changeTimeEntry, createTimeEntry, readTimeEntries, removeTimeEntry, timeEntries } from './store.ts'

const handlers = recordHandlers({ ...timeEntries, readPage: readTimeEntries }, '/api/time-entries', {
	create: createTimeEntry,
	change: changeTimeEntry,
	remove: removeTimeEntry,
})

export const { get, create, update, remove } = handlers

export const list: Handler<'timeEntries.list'> = ({ query, caller }, context) => {
	const times = { begin: ['from', 'updatedSince'], end: ['to'] } as const
	return handlers.list({ query: withInstants(query, caller.organization.timeZone, times), caller }, context)
}

export const history = historyHandler(timeEntries)
