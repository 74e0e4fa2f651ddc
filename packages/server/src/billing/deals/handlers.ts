import { historyHandler } from '../../platform/audit/history.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { recordHandlers } from '../../platform/http/record-handlers.ts'
import { withInstants } from '../../platform/lists/dates.ts'
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
