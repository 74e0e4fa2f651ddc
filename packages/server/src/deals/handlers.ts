import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { changeDeal, createDeal, deals, removeDeal } from './store.ts'

const handlers = recordHandlers(deals, '/api/deals', { create: createDeal, change: changeDeal, remove: removeDeal })

export const list: Handler<'deals.list'> = handlers.list

export const get: Handler<'deals.get'> = handlers.get

export const create: Handler<'deals.create'> = handlers.create

export const update: Handler<'deals.update'> = handlers.update

export const remove: Handler<'deals.delete'> = handlers.remove
