// Creates, changes and deletes pipelines: which stages are valid, and when a stage or a pipeline may be removed.

import type { Pipeline, PipelineCreate, PipelineUpdate, Stage } from '../../generated/contract.ts'
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Db } from '../../platform/db/database.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { findStagesInUse, hasDeals, pipelines } from './pipeline-store.ts'

export async function createPipeline(write: WriteContext, input: PipelineCreate): Promise<Pipeline> {
	const { origin, organization } = write
	rejectInvalidStages(input.stages)
	const { now } = origin
	const systemFields = { organizationId: organization.id, id: newId('pl'), createdAt: now, updatedAt: now, version: 1 }
	const pipeline = { advanceWhenAllPaid: false, ...input, ...systemFields }
	await pipelines.insert(write, pipeline)
	return pipeline
}

/** Changes a pipeline that was read with `lock`. */
export async function changePipeline(write: WriteContext, stored: Pipeline, input: PipelineUpdate): Promise<Pipeline> {
	if (input.stages) {
		rejectInvalidStages(input.stages)
		await requireStagesInUse(write.db, stored, input.stages)
	}
	return pipelines.update(write, stored, input)
}

export async function removePipeline(write: WriteContext, stored: Pipeline): Promise<void> {
	await rejectUsed(write.db, stored)
	await pipelines.remove(write, stored)
}

const stage = (key: string, label: string, type: Stage['type'], advanceOnInvoicePaidTo?: string): Stage => ({
	key,
	label,
	type,
	...(advanceOnInvoicePaidTo && { advanceOnInvoicePaidTo }),
})

/** The pipeline of a new organization. */
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

export const createDefaultPipeline = (write: WriteContext) => createPipeline(write, { name: 'Sales', stages: defaultStages })

/** Keys are unique, and `advanceOnInvoicePaidTo` names a later stage: a payment never moves a deal back. */
function rejectInvalidStages(stages: readonly Stage[]): void {
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

/** Throws when the new stages lack one that contains live deals. Deleted deals do not need their stage. */
async function requireStagesInUse(db: Db, pipeline: Pipeline, stages: readonly Stage[]): Promise<void> {
	const kept = new Set(stages.map(({ key }) => key))
	const { organizationId, id: pipelineId } = pipeline
	const inUse = await findStagesInUse(db, { organizationId, pipelineId })
	const missing = inUse.filter((key) => !kept.has(key))
	if (missing.length > 0) {
		throw fieldError('stage_in_use', '/stages', `Deals are in the stages that are missing: ${missing.join(', ')}.`)
	}
}

/** Throws when any deal has the pipeline; the row of a deleted deal still references it. */
async function rejectUsed(db: Db, { organizationId, id: pipelineId }: Pipeline): Promise<void> {
	if (!(await hasDeals(db, { organizationId, pipelineId }))) return
	throw new ApiError('record_in_use', `Deals, deleted ones too, have the pipeline ${pipelineId}: it cannot be deleted.`)
}
