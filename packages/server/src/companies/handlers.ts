import type { Company, PageMeta } from '../generated/contract.ts'
import { listText } from '../http/answers.ts'
import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { changeCompany, companies, createCompany, readCompanies, removeCompany } from './store.ts'

const handlers = recordHandlers(companies, '/api/companies', {
	create: createCompany,
	change: changeCompany,
	remove: removeCompany,
})

export const list: Handler<'companies.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await readCompanies(db, caller.organizationId, query)
	return { status: 200, body: listText<Company, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const get: Handler<'companies.get'> = handlers.get

export const create: Handler<'companies.create'> = handlers.create

export const update: Handler<'companies.update'> = handlers.update

export const remove: Handler<'companies.delete'> = handlers.remove
