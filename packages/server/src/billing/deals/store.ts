import type { Deal, DealCreate, DealUpdate, Pipeline } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import { type Db, query } from '../../platform/db/database.ts'
import type { CountedPage, PageQuery } from '../../platform/db/pages.ts'
import { type ListFilter, records } from '../../platform/db/records.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'
import type { Call } from '../../platform/http/handler.ts'
import type { Instants } from '../../platform/lists/dates.ts'
import { filterBy, requireRanges } from '../../platform/lists/filters.ts'
import { companies } from '../companies/store.ts'
import { contacts } from '../contacts/store.ts'
import { type Searched, type SearchText, searchedPage } from '../search/lists.ts'
import { searchTexts, withSearchText } from '../search/texts.ts'
import { findOldestPipeline, pipelines } from './pipeline-store.ts'

const unindexed = ['currency', 'valueMin', 'valueMax', 'stages']

type Asked = Instants<ListFilter<'deals.list'>, 'createdFrom' | 'createdTo' | 'updatedSince'>
type Filter = Asked & { readonly stages?: readonly string[] }

export const deals = records<Deal, Searched<Filter>, SearchText>({
	name: 'deal',
	table: 'deals',
	fields: fields.Deal,
	softDelete: true,
	filter: filterBy('deals', {
		stages: ['stage', 'any of'],
		valueMin: ['valueCents', '>='],
		valueMax: ['valueCents', '<='],
		createdFrom: ['createdAt', '>='],
		createdTo: ['createdAt', '<='],
		updatedSince: ['updatedAt', '>='],
	}),
	sparse: (column) =>
		column === 'updatedAt'
			? ['companyId', 'contactId', 'pipelineId', 'stage', 'createdFrom', 'createdTo', ...unindexed]
			: ['updatedSince', ...unindexed],
})

const readSearched = searchedPage<Filter>('deals', deals)

/** A page of deals, in an order that is asked for, of the changes since a time, or newest first. */
export function readDeals(
	db: Db,
	organizationId: string,
	{ sortBy, sortOrder, stage, ...query }: Asked & Partial<Pick<Call<'deals.list'>['query'], 'sortBy' | 'sortOrder'>> & PageQuery,
): Promise<CountedPage> {
	requireRanges(query, [
		['createdFrom', 'createdTo'],
		['valueMin', 'valueMax'],
	])
	const column = sortBy ?? (query.updatedSince === undefined ? 'createdAt' : 'updatedAt')
	const order = { column, direction: sortOrder ?? (column === 'createdAt' ? 'desc' : 'asc') }
	const staged = stage?.includes(',') ? { stages: stage.split(',') } : stage !== undefined && { stage }
	return readSearched(db, organizationId, { ...query, ...staged }, order, (sortBy ?? sortOrder) !== undefined)
}

const record = eventsAbout<Deal, `deal.${'created' | 'updated' | 'stage_changed' | 'deleted'}`>('deal')

/** Creates a deal: in the first stage of its pipeline, and in the oldest pipeline, unless the input names others. */
export async function createDeal(write: WriteContext, input: DealCreate): Promise<Deal> {
	const { db, origin, organization } = write
	await requireReferences(write, input, {})
	const pipeline = await requirePipeline(db, organization.id, input.pipelineId)
	const stage = input.stage ?? (pipeline.stages[0]?.key as string)
	requireStage(pipeline, stage)
	const deal: Deal = {
		...blanks.Deal,
		autoAdvance: true,
		currency: organization.defaultCurrency,
		...input,
		organizationId: organization.id,
		id: newId('dl'),
		pipelineId: pipeline.id,
		stage,
		createdAt: origin.now,
		updatedAt: origin.now,
		version: 1,
	}
	const data = await deals.insert(write, deal, { searchText: searchTexts.deals(deal) })
	await record(db, origin, 'deal.created', deal, { data })
	return deal
}

/** Changes a deal that was read with `lock`; a change of stage or pipeline is an event of its own as well. */
export async function changeDeal(write: WriteContext, stored: Deal, input: DealUpdate): Promise<Deal> {
	const { db } = write
	await requireReferences(write, input, stored)
	const changesPipeline = input.pipelineId !== undefined && input.pipelineId !== stored.pipelineId
	const changes = { ...input }
	if (changesPipeline || input.stage !== undefined) {
		const pipeline = await requirePipeline(db, stored.organizationId, input.pipelineId ?? stored.pipelineId)
		changes.stage ??= pipeline.stages[0]?.key as string
		requireStage(pipeline, changes.stage)
	}
	return updateDeal(write, stored, changes)
}

async function updateDeal(write: WriteContext, stored: Deal, changes: Partial<Deal>): Promise<Deal> {
	const { db, origin } = write
	const deal = await deals.update(write, stored, withSearchText('deals', stored, changes))
	if (deal === stored) return deal
	await record(db, origin, 'deal.updated', deal, { before: stored })
	if (deal.stage !== stored.stage || deal.pipelineId !== stored.pipelineId)
		await record(db, origin, 'deal.stage_changed', deal, { before: stored })
	return deal
}

const openTime = query<{ organizationId: string; dealId: string }, { id: string }>((knex, key) =>
	knex('time_entries')
		.where({ ...key, status: 'open', billable: true })
		.select('id')
		.limit(1, { skipBinding: true }),
)

/** Soft-deletes a deal that was read with `lock`. Its time can be invoiced only while there is the deal. */
export async function removeDeal(write: WriteContext, stored: Deal): Promise<void> {
	const { db, origin } = write
	if (await db.get(openTime, { organizationId: stored.organizationId, dealId: stored.id })) {
		const detail =
			'The deal has billable time that is on no invoice: invoice it, move it to another deal, or make it not billable first.'
		throw new ApiError('deal_has_time', detail)
	}
	const deal = await deals.update(write, stored, { deletedAt: origin.now }, 'deleted')
	await record(db, origin, 'deal.deleted', deal)
}

/** A newly named company or contact must exist; the deal may keep one that was deleted since. */
async function requireReferences(
	{ db, organization }: WriteContext,
	{ companyId, contactId }: DealUpdate,
	stored: Partial<Deal>,
): Promise<void> {
	if (companyId && companyId !== stored.companyId) await companies.require(db, organization.id, companyId, '/companyId')
	if (contactId && contactId !== stored.contactId) await contacts.require(db, organization.id, contactId, '/contactId')
}

/**
 * Moves a deal whose invoice was paid to the stage that its current stage names, if that is a later stage, the deal has
 * `autoAdvance`, and its pipeline does not wait for an open invoice. Returns the new stage's key. `hasOpenInvoices` is asked while the
 * deal is locked, so that of two last payments at once the second sees the first.
 */
export async function advanceDealOnPayment(
	write: WriteContext,
	id: string,
	hasOpenInvoices: () => Promise<boolean>,
): Promise<string | undefined> {
	const { db, organization } = write
	const stored = await deals.lock(db, organization.id, id)
	if (!stored?.autoAdvance) return undefined
	const { stages, advanceWhenAllPaid } = await requirePipeline(db, organization.id, stored.pipelineId)
	const current = stages.findIndex(({ key }) => key === stored.stage)
	const target = stages[current]?.advanceOnInvoicePaidTo
	if (!target || stages.findIndex(({ key }) => key === target) <= current) return undefined
	if (advanceWhenAllPaid && (await hasOpenInvoices())) return undefined
	await updateDeal(write, stored, { stage: target })
	return target
}

/** The named pipeline, or the oldest; share-locked, so that nobody removes the deal's stage meanwhile. */
async function requirePipeline(db: Db, organizationId: string, named: string | undefined): Promise<Pipeline> {
	const id = named ?? (await findOldestPipeline(db, organizationId))?.id
	const pipeline = id === undefined ? undefined : await pipelines.lockShared(db, organizationId, id)
	if (pipeline) return pipeline
	const detail = id === undefined ? 'The organization has no pipeline: create one first.' : `There is no pipeline ${id}.`
	throw fieldError('unknown_pipeline', '/pipelineId', detail)
}

function requireStage({ stages }: Pipeline, stage: string): void {
	if (stages.some(({ key }) => key === stage)) return
	const known = stages.map(({ key }) => key).join(', ')
	throw fieldError('unknown_stage', '/stage', `${stage} is none of the pipeline's stages: ${known}.`)
}
