import type { Handler } from '../api.ts'
import { companyExists } from '../companies/store.ts'
import { contacts } from '../contacts/store.ts'
import type { Db } from '../db.ts'
import { ApiError, fieldError } from '../errors.ts'
import { etag } from '../etag.ts'
import type { Deal, DealUpdate, PageMeta } from '../generated/contract.ts'
import { dataText, listText } from '../json.ts'
import { deals, insertDeal, updateDeal } from './store.ts'

const notFound = (id: string) => new ApiError('deal_not_found', `There is no deal ${id}.`)

export const list: Handler<'deals.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await deals.list(db, caller.organizationId, query)
	return { status: 200, body: listText<Deal, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const create: Handler<'deals.create'> = async ({ body, caller }, { db, now }) => {
	const { organizationId, defaultCurrency } = caller
	await refuseUnknownReferences(db, organizationId, {}, body)
	const { id, version } = await insertDeal(db, organizationId, { defaultCurrency, ...body }, now)
	return { status: 201, headers: { Location: `/api/deals/${id}`, ETag: etag(version) }, body: { id } }
}

export const get: Handler<'deals.get'> = async ({ params, caller }, { db }) => {
	const deal = await deals.find(db, caller.organizationId, params.id)
	if (!deal) throw notFound(params.id)
	return { status: 200, headers: { ETag: etag(deal.version) }, body: dataText<Deal>(deal.json) }
}

export const update: Handler<'deals.update'> = async ({ params, body, caller, expectVersion }, { db, origin }) => {
	const deal = await lock(db, caller.organizationId, params.id, expectVersion)
	await refuseUnknownReferences(db, caller.organizationId, deal, body)
	const { version } = await updateDeal(db, deal, body, origin)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}

export const remove: Handler<'deals.delete'> = async ({ params, caller, expectVersion }, { db, now }) => {
	const deal = await lock(db, caller.organizationId, params.id, expectVersion)
	await deals.update(db, deal, { deletedAt: now }, now)
	return { status: 200, body: { ok: true } }
}

async function lock(db: Db, organizationId: string, id: string, expectVersion: (version: number) => void): Promise<Deal> {
	const deal = await deals.lock(db, organizationId, id)
	if (!deal) throw notFound(id)
	expectVersion(deal.version)
	return deal
}

/** A company or contact that is newly named must be there; one that was deleted since stays. */
async function refuseUnknownReferences(
	db: Db,
	organizationId: string,
	before: DealUpdate,
	{ companyId, contactId }: DealUpdate,
): Promise<void> {
	if (companyId && companyId !== before.companyId && !(await companyExists(db, organizationId, companyId))) {
		throw fieldError('unknown_company', '/companyId', `There is no company ${companyId}.`)
	}
	if (contactId && contactId !== before.contactId && !(await contacts.exists(db, organizationId, contactId))) {
		throw fieldError('unknown_contact', '/contactId', `There is no contact ${contactId}.`)
	}
}
