import type { Handler } from '../api.ts'
import type { Db } from '../db.ts'
import { ApiError } from '../errors.ts'
import { etag } from '../etag.ts'
import type { PageMeta, Pipeline } from '../generated/contract.ts'
import { dataText, listText } from '../json.ts'
import { insertPipeline, pipelines, refuseContradictions, refuseLostStages, refuseUsed } from './pipelines.ts'

const notFound = (id: string) => new ApiError('pipeline_not_found', `There is no pipeline ${id}.`)

export const list: Handler<'pipelines.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await pipelines.list(db, caller.organizationId, query)
	return { status: 200, body: listText<Pipeline, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const create: Handler<'pipelines.create'> = async ({ body, caller }, { db, now }) => {
	refuseContradictions(body.stages)
	const { id, version } = await insertPipeline(db, caller.organizationId, body, now)
	return { status: 201, headers: { Location: `/api/pipelines/${id}`, ETag: etag(version) }, body: { id } }
}

export const get: Handler<'pipelines.get'> = async ({ params, caller }, { db }) => {
	const pipeline = await pipelines.find(db, caller.organizationId, params.id)
	if (!pipeline) throw notFound(params.id)
	return { status: 200, headers: { ETag: etag(pipeline.version) }, body: dataText<Pipeline>(pipeline.json) }
}

export const update: Handler<'pipelines.update'> = async ({ params, body, caller, expectVersion }, { db, now }) => {
	const pipeline = await lock(db, caller.organizationId, params.id, expectVersion)
	if (body.stages) {
		refuseContradictions(body.stages)
		await refuseLostStages(db, pipeline, body.stages)
	}
	const { version } = await pipelines.update(db, pipeline, body, now)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}

export const remove: Handler<'pipelines.delete'> = async ({ params, caller, expectVersion }, { db }) => {
	const pipeline = await lock(db, caller.organizationId, params.id, expectVersion)
	await refuseUsed(db, pipeline)
	await pipelines.remove(db, pipeline)
	return { status: 200, body: { ok: true } }
}

async function lock(db: Db, organizationId: string, id: string, expectVersion: (version: number) => void): Promise<Pipeline> {
	const pipeline = await pipelines.lock(db, organizationId, id)
	if (!pipeline) throw notFound(id)
	expectVersion(pipeline.version)
	return pipeline
}
