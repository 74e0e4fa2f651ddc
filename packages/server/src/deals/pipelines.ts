// Pipelines: the stages that deals pass.

import { ApiError, fieldError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { type Db, query } from '../db/database.ts'
import { records } from '../db/records.ts'
import type { Pipeline, PipelineCreate, Stage } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'

export const pipelines = records<Pipeline, object>('pipelines', fields.Pipeline)

export async function insertPipeline(db: Db, organizationId: string, input: PipelineCreate, now: number): Promise<Pipeline> {
	const pipeline = { ...input, organizationId, id: newId('pl'), createdAt: now, updatedAt: now, version: 1 }
	await pipelines.insert(db, pipeline)
	return pipeline
}

const stage = (key: string, label: string, type: Stage['type'], advanceOnInvoicePaidTo?: string): Stage => ({
	key,
	label,
	type,
	...(advanceOnInvoicePaidTo && { advanceOnInvoicePaidTo }),
})

/** What a new organization gets. */
const defaultStages = [
	stage('lead', 'Lead', 'open'),
	stage('qualified', 'Qualified', 'open'),
	stage('proposal', 'Proposal', 'open'),
	stage('won', 'Won', 'won', 'paid'),
	stage('in_progress', 'In progress', 'won', 'paid'),
	stage('invoiced', 'Invoiced', 'won', 'paid'),
	stage('paid', 'Paid', 'won'),
	stage('lost', 'Lost', 'lost'),
]

export const insertDefaultPipeline = (db: Db, organizationId: string, now: number) =>
	insertPipeline(db, organizationId, { name: 'Sales', stages: defaultStages }, now)

const oldest = query<{ organizationId: string }, { id: string }>((knex, { organizationId }) =>
	knex('pipelines').where({ organizationId }).orderBy(['createdAt', 'id']).select('id').limit(1, { skipBinding: true }),
)

/** The id of the pipeline that deals pass unless they name another. */
export const findOldestPipeline = (db: Db, organizationId: string) => db.get(oldest, { organizationId })

interface PipelineKey {
	readonly organizationId: string
	readonly pipelineId: string
}

const stagesWithDeals = query<PipelineKey, { stage: string }>((knex, key) =>
	knex('deals').where(key).whereNull('deletedAt').distinct('stage').orderBy('stage'),
)

const dealIn = query<PipelineKey, { id: string }>((knex, key) =>
	knex('deals').where(key).select('id').limit(1, { skipBinding: true }),
)

/** Stages are told apart by key, and move a deal on, never back. */
export function refuseContradictions(stages: readonly Stage[]): void {
	const places = new Map<string, number>()
	for (const [index, { key }] of stages.entries()) {
		if (places.has(key)) throw fieldError('invalid_stages', `/stages/${index}/key`, `The stage ${key} stands twice.`)
		places.set(key, index)
	}
	for (const [index, { advanceOnInvoicePaidTo: target }] of stages.entries()) {
		if (typeof target !== 'string') continue
		const place = places.get(target)
		if (place !== undefined && place > index) continue
		const detail = place === undefined ? `There is no stage ${target}.` : `${target} is not a later stage.`
		throw fieldError('invalid_stages', `/stages/${index}/advanceOnInvoicePaidTo`, detail)
	}
}

/** Throws when a stage with deals in it is not among the new ones; a deleted deal needs its stage no more. */
export async function refuseLostStages(db: Db, pipeline: Pipeline, stages: readonly Stage[]): Promise<void> {
	const kept = new Set(stages.map(({ key }) => key))
	const { organizationId, id: pipelineId } = pipeline
	const inUse = (await db.all(stagesWithDeals, { organizationId, pipelineId })).map(({ stage }) => stage)
	const lost = inUse.filter((key) => !kept.has(key))
	if (lost.length > 0) {
		throw fieldError('stage_in_use', '/stages', `Deals are in the stages that are missing: ${lost.join(', ')}.`)
	}
}

/** Throws when a deal is in the pipeline, or was when it was deleted: its row still points here. */
export async function refuseUsed(db: Db, { organizationId, id: pipelineId }: Pipeline): Promise<void> {
	if (!(await db.get(dealIn, { organizationId, pipelineId }))) return
	throw new ApiError('record_in_use', `Deals, deleted ones too, have the pipeline ${pipelineId}: it cannot be deleted.`)
}
