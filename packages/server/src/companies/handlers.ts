import type { Handler } from '../api.ts'
import { ApiError } from '../errors.ts'
import { etag } from '../etag.ts'
import type { Company, PageMeta } from '../generated/contract.ts'
import { dataText, listText } from '../json.ts'
import { findCompany, insertCompany, listCompanies, lockCompany, removeCompany, updateCompany } from './store.ts'

const notFound = (id: string) => new ApiError('company_not_found', `There is no company ${id}.`)

export const list: Handler<'companies.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await listCompanies(db, caller.organizationId, query)
	return { status: 200, body: listText<Company, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const create: Handler<'companies.create'> = async ({ body, caller }, { db, origin }) => {
	const { id, version } = await insertCompany(db, caller.organizationId, body, origin)
	return { status: 201, headers: { Location: `/api/companies/${id}`, ETag: etag(version) }, body: { id } }
}

export const get: Handler<'companies.get'> = async ({ params, caller }, { db }) => {
	const company = await findCompany(db, caller.organizationId, params.id)
	if (!company) throw notFound(params.id)
	return { status: 200, headers: { ETag: etag(company.version) }, body: dataText<Company>(company.json) }
}

export const update: Handler<'companies.update'> = async ({ params, body, caller, expectVersion }, { db, origin }) => {
	const company = await lockCompany(db, caller.organizationId, params.id)
	if (!company) throw notFound(params.id)
	expectVersion(company.version)
	const version = await updateCompany(db, company, body, origin)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}

export const remove: Handler<'companies.delete'> = async ({ params, caller, expectVersion }, { db, origin }) => {
	const company = await lockCompany(db, caller.organizationId, params.id)
	if (!company) throw notFound(params.id)
	expectVersion(company.version)
	await removeCompany(db, company, origin)
	return { status: 200, body: { ok: true } }
}
