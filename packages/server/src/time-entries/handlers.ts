import { historyHandler } from '../audit/history.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { changeTimeEntry, createTimeEntry, readTimeEntries, removeTimeEntry, timeEntries } from './store.ts'

export const { list, get, create, update, remove } = recordHandlers(
	{ ...timeEntries, readPage: readTimeEntries },
	'/api/time-entries',
	{
		create: createTimeEntry,
		change: changeTimeEntry,
		remove: removeTimeEntry,
	},
)

export const history = historyHandler(timeEntries)
