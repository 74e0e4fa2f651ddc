import { type Handler, writeContext } from '../http/handler.ts'
import { recordHandlers, removed } from '../http/record-handlers.ts'
import { changeDeal, createDeal, deals, removeDeal } from './store.ts'

const handlers = recordHandlers(deals, '/api/deals')

export const list: Handler<'deals.list'> = handlers.list

export const get: Handler<'deals.get'> = handlers.get

export const create: Handler<'deals.create'> = async ({ body, caller }, context) =>
	handlers.created(await createDeal(writeContext(context, caller), body))

export const update: Handler<'deals.update'> = async (call, context) => {
	const stored = await handlers.lock(call, context.db)
	return handlers.changed(await changeDeal(writeContext(context, call.caller), stored, call.body))
}

export const remove: Handler<'deals.delete'> = async (call, context) => {
	await removeDeal(writeContext(context, call.caller), await handlers.lock(call, context.db))
	return removed
}
