import type { Company, PageMeta } from '../generated/contract.ts'
import { listText } from '../http/answers.ts'
import { type Handler, writeContext } from '../http/handler.ts'
import { recordHandlers, removed } from '../http/record-handlers.ts'
import { changeCompany, companies, createCompany, readCompanies, removeCompany } from './store.ts'

const handlers = recordHandlers(companies, '/api/companies')

export const list: Handler<'companies.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await readCompanies(db, caller.organizationId, query)
	return { status: 200, body: listText<Company, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const get: Handler<'companies.get'> = handlers.get

export const create: Handler<'companies.create'> = async ({ body, caller }, context) =>
	handlers.created(await createCompany(writeContext(context, caller), body))

export const update: Handler<'companies.update'> = async (call, context) => {
	const company = await handlers.lock(call, context.db)
	return handlers.changed(await changeCompany(writeContext(context, call.caller), company, call.body))
}

export const remove: Handler<'companies.delete'> = async (call, context) => {
	await removeCompany(writeContext(context, call.caller), await handlers.lock(call, context.db))
	return removed
}
