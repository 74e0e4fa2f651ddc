// Writing pipelines: what their stages may be, and when they, or the pipeline, may go.
import { ApiError, fieldError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Db } from '../db/database.ts'
import type { WriteContext } from '../db/write-context.ts'
import type { Pipeline, PipelineCreate, PipelineUpdate, Stage } from '../generated/contract.ts'
import { findStagesInUse, hasDeals, pipelines } from './pipeline-store.ts'

export async function createPipeline({ db, origin, organization }: WriteContext, input: PipelineCreate): Promise<Pipeline> {
	rejectContradictions(input.stages)
	const { now } = origin
	const pipeline = { ...input, organizationId: organization.id, id: newId('pl'), createdAt: now, updatedAt: now, version: 1 }
	await pipelines.insert(db, pipeline)
	return pipeline
}

/** Changes a pipeline that was read with `lock`. */
export async function changePipeline({ db, origin }: WriteContext, stored: Pipeline, input: PipelineUpdate): Promise<Pipeline> {
	if (input.stages) {
		rejectContradictions(input.stages)
		await rejectLostStages(db, stored, input.stages)
	}
	return pipelines.update(db, stored, input, origin.now)
}

export async function removePipeline({ db }: WriteContext, stored: Pipeline): Promise<void> {
	await rejectUsed(db, stored)
	await pipelines.remove(db, stored)
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

export const createDefaultPipeline = (write: WriteContext) => createPipeline(write, { name: 'Sales', stages: defaultStages })

/** Stages are told apart by key, and move a deal on, never back. */
function rejectContradictions(stages: readonly Stage[]): void {
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
async function rejectLostStages(db: Db, pipeline: Pipeline, stages: readonly Stage[]): Promise<void> {
	const kept = new Set(stages.map(({ key }) => key))
	const { organizationId, id: pipelineId } = pipeline
	const inUse = await findStagesInUse(db, { organizationId, pipelineId })
	const lost = inUse.filter((key) => !kept.has(key))
	if (lost.length > 0) {
		throw fieldError('stage_in_use', '/stages', `Deals are in the stages that are missing: ${lost.join(', ')}.`)
	}
}

/** Throws when a deal is in the pipeline, or was when it was deleted: its row still points here. */
async function rejectUsed(db: Db, { organizationId, id: pipelineId }: Pipeline): Promise<void> {
	if (!(await hasDeals(db, { organizationId, pipelineId }))) return
	throw new ApiError('record_in_use', `Deals, deleted ones too, have the pipeline ${pipelineId}: it cannot be deleted.`)
}
