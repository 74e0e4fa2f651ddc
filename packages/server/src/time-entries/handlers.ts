import { ApiError, fieldError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import { deals } from '../deals/store.ts'
import type { TimeEntry } from '../generated/contract.ts'
import type { Call, Handler } from '../http/handler.ts'
import { answersOf, removed } from '../http/record-handlers.ts'
import { insertTimeEntry, removeTimeEntry, timeEntries, updateTimeEntry } from './store.ts'

const answers = answersOf(timeEntries, { name: 'time entry', notFound: 'time_entry_not_found', path: '/api/time-entries' })

export const list: Handler<'timeEntries.list'> = answers.list

export const get: Handler<'timeEntries.get'> = answers.get

export const create: Handler<'timeEntries.create'> = async ({ body, caller }, { db, origin }) => {
	await refuseUnknownDeal(db, caller.organizationId, body.dealId)
	return answers.created(await insertTimeEntry(db, caller.organizationId, body, origin))
}

export const update: Handler<'timeEntries.update'> = async (call, { db, origin }) => {
	const entry = await lockOpen(call, db)
	const { body } = call
	if (body.dealId !== undefined && body.dealId !== entry.dealId) await refuseUnknownDeal(db, entry.organizationId, body.dealId)
	return answers.changed(await updateTimeEntry(db, entry, body, origin))
}

export const remove: Handler<'timeEntries.delete'> = async (call, { db, origin }) => {
	await removeTimeEntry(db, await lockOpen(call, db), origin)
	return removed
}

/** What is on an invoice stays as it was charged. */
async function lockOpen(call: Call<'timeEntries.update'> | Call<'timeEntries.delete'>, db: Db): Promise<TimeEntry> {
	const entry = await answers.lock(call, db)
	if (entry.status !== 'invoiced') return entry
	throw new ApiError('time_entry_invoiced', `The time entry is on the invoice ${entry.invoiceId}: take it off first.`)
}

async function refuseUnknownDeal(db: Db, organizationId: string, dealId: string): Promise<void> {
	if (!(await deals.exists(db, organizationId, dealId)))
		throw fieldError('unknown_deal', '/dealId', `There is no deal ${dealId}.`)
}
