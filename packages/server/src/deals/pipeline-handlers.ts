import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { pipelines } from './pipeline-store.ts'
import { changePipeline, createPipeline, removePipeline } from './pipelines.ts'

const handlers = recordHandlers(pipelines, '/api/pipelines', {
	create: createPipeline,
	change: changePipeline,
	remove: removePipeline,
})

export const list: Handler<'pipelines.list'> = handlers.list

export const get: Handler<'pipelines.get'> = handlers.get

export const create: Handler<'pipelines.create'> = handlers.create

export const update: Handler<'pipelines.update'> = handlers.update

export const remove: Handler<'pipelines.delete'> = handlers.remove
