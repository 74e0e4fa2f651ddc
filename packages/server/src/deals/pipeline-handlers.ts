import { type Handler, writeContext } from '../http/handler.ts'
import { recordHandlers, removed } from '../http/record-handlers.ts'
import { pipelines } from './pipeline-store.ts'
import { changePipeline, createPipeline, removePipeline } from './pipelines.ts'

const handlers = recordHandlers(pipelines, '/api/pipelines')

export const list: Handler<'pipelines.list'> = handlers.list

export const get: Handler<'pipelines.get'> = handlers.get

export const create: Handler<'pipelines.create'> = async ({ body, caller }, context) =>
	handlers.created(await createPipeline(writeContext(context, caller), body))

export const update: Handler<'pipelines.update'> = async (call, context) => {
	const stored = await handlers.lock(call, context.db)
	return handlers.changed(await changePipeline(writeContext(context, call.caller), stored, call.body))
}

export const remove: Handler<'pipelines.delete'> = async (call, context) => {
	await removePipeline(writeContext(context, call.caller), await handlers.lock(call, context.db))
	return removed
}
