// Pipelines: the stages that deals go through.

import type { Pipeline } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { records } from '../../platform/db/records.ts'

export const pipelines = records<Pipeline>({ name: 'pipeline', table: 'pipelines', fields: fields.Pipeline })

const oldest = query<{ organizationId: string }, { id: string }>((knex, { organizationId }) =>
	knex('pipelines').where({ organizationId }).orderBy(['createdAt', 'id']).select('id').limit(1, { skipBinding: true }),
)

/** The id of the pipeline for a deal that names none. */
export const findOldestPipeline = (db: Db, organizationId: string) => db.get(oldest, { organizationId })

interface PipelineKey {
	readonly organizationId: string
	readonly pipelineId: string
}

const stagesInUse = query<PipelineKey, { stage: string }>((knex, key) =>
	knex('deals').where(key).whereNull('deletedAt').distinct('stage').orderBy('stage'),
)

/** The keys of the stages that contain live deals. */
export const findStagesInUse = async (db: Db, key: PipelineKey) => (await db.all(stagesInUse, key)).map(({ stage }) => stage)

const dealIn = query<PipelineKey, { id: string }>((knex, key) =>
	knex('deals').where(key).select('id').limit(1, { skipBinding: true }),
)

/** Whether any deal, live or deleted, references the pipeline. */
export const hasDeals = async (db: Db, key: PipelineKey) => (await db.get(dealIn, key)) !== undefined
