import { historyHandler } from '../audit/history.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { changeDeal, createDeal, deals, readDeals, removeDeal } from './store.ts'

export const { list, get, create, update, remove } = recordHandlers({ ...deals, readPage: readDeals }, '/api/deals', {
	create: createDeal,
	change: changeDeal,
	remove: removeDeal,
})

export const history = historyHandler(deals)
