import type { Company, PageMeta } from '../generated/contract.ts'
import { listText } from '../http/answers.ts'
import type { Handler } from '../http/handler.ts'
import { answersOf, removed } from '../http/record-handlers.ts'
import { companies, insertCompany, listCompanies, removeCompany, updateCompany } from './store.ts'

const answers = answersOf(companies, { name: 'company', notFound: 'company_not_found', path: '/api/companies' })

export const list: Handler<'companies.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await listCompanies(db, caller.organizationId, query)
	return { status: 200, body: listText<Company, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const get: Handler<'companies.get'> = answers.get

export const create: Handler<'companies.create'> = async ({ body, caller }, { db, origin }) =>
	answers.created(await insertCompany(db, caller.organizationId, body, origin))

export const update: Handler<'companies.update'> = async (call, { db, origin }) => {
	const company = await answers.lock(call, db)
	return answers.changed({ id: company.id, version: await updateCompany(db, company, call.body, origin) })
}

export const remove: Handler<'companies.delete'> = async (call, { db, origin }) => {
	await removeCompany(db, await answers.lock(call, db), origin)
	return removed
}
