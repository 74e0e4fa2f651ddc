import { historyHandler } from '../audit/history.ts'
import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { withInstants } from '../lists/dates.ts'
import { changeDeal, createDeal, deals, readDeals, removeDeal } from './store.ts'

const handlers = recordHandlers({ ...deals, readPage: readDeals }, '/api/deals', {
	create: createDeal,
	change: changeDeal,
	remove: removeDeal,
})

export const { get, create, update, remove } = handlers

export const list: Handler<'deals.list'> = ({ query, caller }, context) => {
	const times = { begin: ['createdFrom', 'updatedSince'], end: ['createdTo'] } as const
	return handlers.list({ query: withInstants(query, caller.organization.timeZone, times), caller }, context)
}

export const history = historyHandler(deals)
