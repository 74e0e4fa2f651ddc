import type { Handler } from '../api.ts'
import type { Db } from '../db.ts'
import { deals } from '../deals/store.ts'
import { ApiError, fieldError } from '../errors.ts'
import { etag } from '../etag.ts'
import type { PageMeta, TimeEntry } from '../generated/contract.ts'
import { dataText, listText } from '../json.ts'
import { insertTimeEntry, removeTimeEntry, timeEntries, updateTimeEntry } from './store.ts'

const notFound = (id: string) => new ApiError('time_entry_not_found', `There is no time entry ${id}.`)

export const list: Handler<'timeEntries.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await timeEntries.list(db, caller.organizationId, query)
	return { status: 200, body: listText<TimeEntry, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const create: Handler<'timeEntries.create'> = async ({ body, caller }, { db, origin }) => {
	await refuseUnknownDeal(db, caller.organizationId, body.dealId)
	const { id, version } = await insertTimeEntry(db, caller.organizationId, body, origin)
	return { status: 201, headers: { Location: `/api/time-entries/${id}`, ETag: etag(version) }, body: { id } }
}

export const get: Handler<'timeEntries.get'> = async ({ params, caller }, { db }) => {
	const entry = await timeEntries.find(db, caller.organizationId, params.id)
	if (!entry) throw notFound(params.id)
	return { status: 200, headers: { ETag: etag(entry.version) }, body: dataText<TimeEntry>(entry.json) }
}

export const update: Handler<'timeEntries.update'> = async ({ params, body, caller, expectVersion }, { db, origin }) => {
	const entry = await lockOpen(db, caller.organizationId, params.id, expectVersion)
	if (body.dealId !== undefined && body.dealId !== entry.dealId) await refuseUnknownDeal(db, caller.organizationId, body.dealId)
	const { version } = await updateTimeEntry(db, entry, body, origin)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}

export const remove: Handler<'timeEntries.delete'> = async ({ params, caller, expectVersion }, { db, origin }) => {
	const entry = await lockOpen(db, caller.organizationId, params.id, expectVersion)
	await removeTimeEntry(db, entry, origin)
	return { status: 200, body: { ok: true } }
}

/** What is on an invoice stays as it was charged. */
async function lockOpen(
	db: Db,
	organizationId: string,
	id: string,
	expectVersion: (version: number) => void,
): Promise<TimeEntry> {
	const entry = await timeEntries.lock(db, organizationId, id)
	if (!entry) throw notFound(id)
	expectVersion(entry.version)
	if (entry.status === 'invoiced') {
		throw new ApiError('time_entry_invoiced', `The time entry is on the invoice ${entry.invoiceId}: take it off first.`)
	}
	return entry
}

async function refuseUnknownDeal(db: Db, organizationId: string, dealId: string): Promise<void> {
	if (!(await deals.exists(db, organizationId, dealId)))
		throw fieldError('unknown_deal', '/dealId', `There is no deal ${dealId}.`)
}
