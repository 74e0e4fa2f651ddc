import { historyHandler } from '../../platform/audit/history.ts'
import { recordHandlers } from '../../platform/http/record-handlers.ts'
import { pipelines } from './pipeline-store.ts'
import { changePipeline, createPipeline, removePipeline } from './pipelines.ts'

export const { list, get, create, update, remove } = recordHandlers(pipelines, '/api/pipelines', {
	create: createPipeline,
	change: changePipeline,
	remove: removePipeline,
})

export const history = historyHandler(pipelines)
