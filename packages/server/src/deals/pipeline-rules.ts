// What the stages of a pipeline may be, and when they, or the pipeline, may go.
import { ApiError, fieldError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import type { Pipeline, Stage } from '../generated/contract.ts'
import { findStagesInUse, hasDeals } from './pipeline-store.ts'

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
	const inUse = await findStagesInUse(db, { organizationId, pipelineId })
	const lost = inUse.filter((key) => !kept.has(key))
	if (lost.length > 0) {
		throw fieldError('stage_in_use', '/stages', `Deals are in the stages that are missing: ${lost.join(', ')}.`)
	}
}

/** Throws when a deal is in the pipeline, or was when it was deleted: its row still points here. */
export async function refuseUsed(db: Db, { organizationId, id: pipelineId }: Pipeline): Promise<void> {
	if (!(await hasDeals(db, { organizationId, pipelineId }))) return
	throw new ApiError('record_in_use', `Deals, deleted ones too, have the pipeline ${pipelineId}: it cannot be deleted.`)
}
