import { fieldError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Origin } from '../base/origin.ts'
import type { Db } from '../db/database.ts'
import { records } from '../db/records.ts'
import { changesBetween } from '../events/changes.ts'
import { recordEvent } from '../events/record.ts'
import type { Deal, DealCreate, Pipeline } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'
import { findOldestPipeline, pipelines } from './pipeline-store.ts'

interface DealFilter {
	readonly companyId?: string
	readonly contactId?: string
	readonly pipelineId?: string
	readonly stage?: string
}

export const deals = records<Deal, DealFilter>('deals', fields.Deal, { softDelete: true })

/** A new deal, in the first stage of the organization's oldest pipeline unless told otherwise. */
export async function insertDeal(
	db: Db,
	organizationId: string,
	{ defaultCurrency, ...input }: DealCreate & { defaultCurrency: string },
	now: number,
): Promise<Deal> {
	const pipeline = await pipelineOf(db, organizationId, input.pipelineId)
	const stage = input.stage ?? (pipeline.stages[0]?.key as string)
	refuseUnknownStage(pipeline, stage)
	const deal = {
		...noDetails,
		currency: defaultCurrency,
		...input,
		organizationId,
		id: newId('dl'),
		pipelineId: pipeline.id,
		stage,
		createdAt: now,
		updatedAt: now,
		deletedAt: null,
		version: 1,
	}
	await deals.insert(db, deal)
	return deal
}

const noDetails = { companyId: null, contactId: null, autoAdvance: true, valueCents: null, hourlyRateCents: null }

/** Writes the changes to a deal that was read with `lock`, and tells when it changes its stage. */
export async function updateDeal(db: Db, deal: Deal, changes: Partial<Deal>, origin: Origin): Promise<Deal> {
	const moves = changes.pipelineId !== undefined && changes.pipelineId !== deal.pipelineId
	const next = { ...changes }
	if (moves || changes.stage !== undefined) {
		const pipeline = await pipelineOf(db, deal.organizationId, changes.pipelineId ?? deal.pipelineId)
		next.stage ??= pipeline.stages[0]?.key as string
		refuseUnknownStage(pipeline, next.stage as string)
	}
	const changed = await deals.update(db, deal, next, origin.now)
	if (changed.stage !== deal.stage || changed.pipelineId !== deal.pipelineId) await tellStage(db, deal, changed, origin)
	return changed
}

/**
 * Moves a deal on when its invoice was paid: to the stage that its own stage names, if that is a later one and the deal
 * advances by itself. Returns the new stage's key.
 */
export async function advanceDealOnPayment(
	db: Db,
	organizationId: string,
	id: string,
	origin: Origin,
): Promise<string | undefined> {
	const deal = await deals.lock(db, organizationId, id)
	if (!deal?.autoAdvance) return undefined
	const { stages } = await pipelineOf(db, organizationId, deal.pipelineId)
	const current = stages.findIndex(({ key }) => key === deal.stage)
	const target = stages[current]?.advanceOnInvoicePaidTo
	if (!target || stages.findIndex(({ key }) => key === target) <= current) return undefined
	const changed = await deals.update(db, deal, { stage: target }, origin.now)
	await tellStage(db, deal, changed, origin)
	return target
}

const tellStage = (db: Db, before: Deal, deal: Deal, origin: Origin) =>
	recordEvent(db, origin, {
		type: 'deal.stage_changed',
		organizationId: deal.organizationId,
		resource: 'deal',
		resourceId: deal.id,
		data: JSON.stringify(deal),
		changes: changesBetween(before, deal),
	})

/** The pipeline that is named, or the oldest: locked, so that it keeps the stage that the deal gets. */
async function pipelineOf(db: Db, organizationId: string, named: string | undefined): Promise<Pipeline> {
	const id = named ?? (await findOldestPipeline(db, organizationId))?.id
	const pipeline = id === undefined ? undefined : await pipelines.lockShared(db, organizationId, id)
	if (pipeline) return pipeline
	const detail = id === undefined ? 'The organization has no pipeline: create one first.' : `There is no pipeline ${id}.`
	throw fieldError('unknown_pipeline', '/pipelineId', detail)
}

function refuseUnknownStage({ stages }: Pipeline, stage: string): void {
	if (stages.some(({ key }) => key === stage)) return
	const known = stages.map(({ key }) => key).join(', ')
	throw fieldError('unknown_stage', '/stage', `${stage} is none of the pipeline's stages: ${known}.`)
}
