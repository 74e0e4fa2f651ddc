import { fieldError } from '../base/errors.ts'
import { companies } from '../companies/store.ts'
import { contacts } from '../contacts/store.ts'
import type { Db } from '../db/database.ts'
import type { DealUpdate } from '../generated/contract.ts'
import type { Handler } from '../http/handler.ts'
import { answersOf, removed } from '../http/record-handlers.ts'
import { deals, insertDeal, updateDeal } from './store.ts'

const answers = answersOf(deals, { name: 'deal', notFound: 'deal_not_found', path: '/api/deals' })

export const list: Handler<'deals.list'> = answers.list

export const get: Handler<'deals.get'> = answers.get

export const create: Handler<'deals.create'> = async ({ body, caller }, { db, now }) => {
	const { organizationId, defaultCurrency } = caller
	await refuseUnknownReferences(db, organizationId, {}, body)
	return answers.created(await insertDeal(db, organizationId, { defaultCurrency, ...body }, now))
}

export const update: Handler<'deals.update'> = async (call, { db, origin }) => {
	const deal = await answers.lock(call, db)
	await refuseUnknownReferences(db, deal.organizationId, deal, call.body)
	return answers.changed(await updateDeal(db, deal, call.body, origin))
}

export const remove: Handler<'deals.delete'> = async (call, { db, now }) => {
	await deals.update(db, await answers.lock(call, db), { deletedAt: now }, now)
	return removed
}

/** A company or contact that is newly named must be there; one that was deleted since stays. */
async function refuseUnknownReferences(
	db: Db,
	organizationId: string,
	before: DealUpdate,
	{ companyId, contactId }: DealUpdate,
): Promise<void> {
	if (companyId && companyId !== before.companyId && !(await companies.exists(db, organizationId, companyId))) {
		throw fieldError('unknown_company', '/companyId', `There is no company ${companyId}.`)
	}
	if (contactId && contactId !== before.contactId && !(await contacts.exists(db, organizationId, contactId))) {
		throw fieldError('unknown_contact', '/contactId', `There is no contact ${contactId}.`)
	}
}
