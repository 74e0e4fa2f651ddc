// Pipelines: the stages that deals pass.

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

const stagesInUse = query<PipelineKey, { stage: string }>((knex, key) =>
	knex('deals').where(key).whereNull('deletedAt').distinct('stage').orderBy('stage'),
)

/** The keys of the stages that live deals are in. */
export const findStagesInUse = async (db: Db, key: PipelineKey) => (await db.all(stagesInUse, key)).map(({ stage }) => stage)

const dealIn = query<PipelineKey, { id: string }>((knex, key) =>
	knex('deals').where(key).select('id').limit(1, { skipBinding: true }),
)

/** Whether any deal, deleted ones included, has the pipeline. */
export const hasDeals = async (db: Db, key: PipelineKey) => (await db.get(dealIn, key)) !== undefined
