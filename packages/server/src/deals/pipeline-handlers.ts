import type { Handler } from '../http/handler.ts'
import { answersOf, removed } from '../http/record-handlers.ts'
import { refuseContradictions, refuseLostStages, refuseUsed } from './pipeline-rules.ts'
import { insertPipeline, pipelines } from './pipeline-store.ts'

const answers = answersOf(pipelines, { name: 'pipeline', notFound: 'pipeline_not_found', path: '/api/pipelines' })

export const list: Handler<'pipelines.list'> = answers.list

export const get: Handler<'pipelines.get'> = answers.get

export const create: Handler<'pipelines.create'> = async ({ body, caller }, { db, now }) => {
	refuseContradictions(body.stages)
	return answers.created(await insertPipeline(db, caller.organizationId, body, now))
}

export const update: Handler<'pipelines.update'> = async (call, { db, now }) => {
	const pipeline = await answers.lock(call, db)
	const { body } = call
	if (body.stages) {
		refuseContradictions(body.stages)
		await refuseLostStages(db, pipeline, body.stages)
	}
	return answers.changed(await pipelines.update(db, pipeline, body, now))
}

export const remove: Handler<'pipelines.delete'> = async (call, { db }) => {
	const pipeline = await answers.lock(call, db)
	await refuseUsed(db, pipeline)
	await pipelines.remove(db, pipeline)
	return removed
}
