import type { Handler } from '../api.ts'
import type { Db } from '../db.ts'
import { ApiError } from '../errors.ts'
import { etag } from '../etag.ts'
import type { PageMeta, TaxRate } from '../generated/contract.ts'
import { dataText, listText } from '../json.ts'
import { insertTaxRate, taxRates, updateTaxRate } from './store.ts'

const notFound = (id: string) => new ApiError('tax_rate_not_found', `There is no tax rate ${id}.`)

export const list: Handler<'taxRates.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await taxRates.list(db, caller.organizationId, query)
	return { status: 200, body: listText<TaxRate, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const create: Handler<'taxRates.create'> = async ({ body, caller }, { db, now }) => {
	const { id, version } = await insertTaxRate(db, caller.organizationId, body, now)
	return { status: 201, headers: { Location: `/api/tax-rates/${id}`, ETag: etag(version) }, body: { id } }
}

export const get: Handler<'taxRates.get'> = async ({ params, caller }, { db }) => {
	const rate = await taxRates.find(db, caller.organizationId, params.id)
	if (!rate) throw notFound(params.id)
	return { status: 200, headers: { ETag: etag(rate.version) }, body: dataText<TaxRate>(rate.json) }
}

export const update: Handler<'taxRates.update'> = async ({ params, body, caller, expectVersion }, { db, now }) => {
	const rate = await lock(db, caller.organizationId, params.id, expectVersion)
	const { version } = await updateTaxRate(db, rate, body, now)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}

/** Archives: what invoices were computed with stays readable. */
export const remove: Handler<'taxRates.delete'> = async ({ params, caller, expectVersion }, { db, now }) => {
	const rate = await lock(db, caller.organizationId, params.id, expectVersion)
	if (rate.active) await taxRates.update(db, rate, { active: false, isDefault: false }, now)
	return { status: 200, body: { ok: true } }
}

async function lock(db: Db, organizationId: string, id: string, expectVersion: (version: number) => void): Promise<TaxRate> {
	const rate = await taxRates.lock(db, organizationId, id)
	if (!rate) throw notFound(id)
	expectVersion(rate.version)
	return rate
}
