import { type Db, query } from '../db.ts'
import { newId } from '../ids.ts'

interface Stage {
	readonly key: string
	readonly label: string
	readonly type: 'open' | 'won' | 'lost'
	/** The later stage that a deal here moves to when its invoice is paid. */
	readonly advanceOnInvoicePaidTo?: string
}

const stage = (key: string, label: string, type: Stage['type'], advanceOnInvoicePaidTo?: string): Stage => ({
	key,
	label,
	type,
	...(advanceOnInvoicePaidTo && { advanceOnInvoicePaidTo }),
})

/** What a new organization gets. */
const defaultStages: readonly Stage[] = [
	stage('lead', 'Lead', 'open'),
	stage('qualified', 'Qualified', 'open'),
	stage('proposal', 'Proposal', 'open'),
	stage('won', 'Won', 'won', 'paid'),
	stage('in_progress', 'In progress', 'won', 'paid'),
	stage('invoiced', 'Invoiced', 'won', 'paid'),
	stage('paid', 'Paid', 'won'),
	stage('lost', 'Lost', 'lost'),
]

interface PipelineRow {
	readonly organizationId: string
	readonly id: string
	readonly name: string
	readonly stages: readonly Stage[]
	readonly createdAt: number
	readonly updatedAt: number
}

const insertPipeline = query<PipelineRow>((knex, row) => knex('pipelines').insert(row))

export async function insertDefaultPipeline(db: Db, organizationId: string, now: number): Promise<string> {
	const id = newId('pl')
	await db.run(insertPipeline, { organizationId, id, name: 'Sales', stages: defaultStages, createdAt: now, updatedAt: now })
	return id
}

const firstPipeline = query<{ organizationId: string }, { id: string }>((knex, { organizationId }) =>
	knex('pipelines').where({ organizationId }).orderBy(['createdAt', 'id']).select('id').limit(1, { skipBinding: true }),
)

export interface DealInput {
	readonly name: string
	readonly companyId?: string | null
	readonly stage?: string
	readonly autoAdvance?: boolean
	readonly currency?: string
	readonly valueCents?: number | null
	readonly hourlyRateCents?: number | null
}

interface DealRow extends Required<DealInput> {
	readonly organizationId: string
	readonly id: string
	readonly pipelineId: string
	readonly createdAt: number
	readonly updatedAt: number
	readonly version: number
}

const insert = query<DealRow>((knex, row) => knex('deals').insert(row))

/** A new deal, in the first stage of the organization's first pipeline unless told otherwise. */
export async function insertDeal(db: Db, organizationId: string, input: DealInput, now: number): Promise<string> {
	const pipeline = await db.get(firstPipeline, { organizationId })
	if (!pipeline) throw new Error(`organization ${organizationId} has no pipeline`)
	const id = newId('dl')
	await db.run(insert, {
		organizationId,
		id,
		pipelineId: pipeline.id,
		name: input.name,
		companyId: input.companyId ?? null,
		stage: input.stage ?? 'lead',
		autoAdvance: input.autoAdvance ?? true,
		currency: input.currency ?? 'USD',
		valueCents: input.valueCents ?? null,
		hourlyRateCents: input.hourlyRateCents ?? null,
		createdAt: now,
		updatedAt: now,
		version: 1,
	})
	return id
}

const exists = query<{ organizationId: string; id: string }, { id: string }>((knex, { organizationId, id }) =>
	knex('deals').where({ organizationId, id }).select('id'),
)

export const dealExists = async (db: Db, organizationId: string, id: string) =>
	(await db.get(exists, { organizationId, id })) !== undefined

const withPipeline = query<
	{ organizationId: string; id: string },
	{ stage: string; autoAdvance: boolean | number; stages: string | Stage[] }
>((knex, { organizationId, id }) =>
	knex('deals as d')
		.join('pipelines as p', (on) => on.on('p.organizationId', 'd.organizationId').andOn('p.id', 'd.pipelineId'))
		.where({ 'd.organizationId': organizationId, 'd.id': id })
		.select('d.stage', 'd.autoAdvance', 'p.stages')
		.forUpdate('d'),
)

const move = query<{ organizationId: string; id: string; stage: string; updatedAt: number }>(
	(knex, { organizationId, id, stage, updatedAt }) =>
		knex('deals')
			.where({ organizationId, id })
			.update({ stage, updatedAt, version: knex.raw('?? + 1', ['version']) }),
)

/**
 * Moves a deal on when its invoice was paid: to the stage that its own stage names, if that is a later one and the deal
 * advances by itself. Returns the new stage's key.
 */
export async function advanceDealOnPayment(db: Db, organizationId: string, id: string, now: number): Promise<string | undefined> {
	const deal = await db.get(withPipeline, { organizationId, id })
	if (!deal?.autoAdvance) return undefined
	const stages: Stage[] = typeof deal.stages === 'string' ? JSON.parse(deal.stages) : deal.stages
	const current = stages.findIndex(({ key }) => key === deal.stage)
	const target = stages[current]?.advanceOnInvoicePaidTo
	if (!target || stages.findIndex(({ key }) => key === target) <= current) return undefined
	await db.run(move, { organizationId, id, stage: target, updatedAt: now })
	return target
}
