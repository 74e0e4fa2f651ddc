import { historyHandler } from '../audit/history.ts'
import type { Company, CompanyListMeta } from '../generated/contract.ts'
import type { Call, Handler } from '../http/handler.ts'
import { listHandler, recordHandlers } from '../http/record-handlers.ts'
import { changeCompany, companies, createCompany, readCompanies, removeCompany } from './store.ts'

export const { get, create, update, remove } = recordHandlers(companies, '/api/companies', {
	create: createCompany,
	change: changeCompany,
	remove: removeCompany,
})

export const list: Handler<'companies.list'> = listHandler<Company, Call<'companies.list'>['query'], CompanyListMeta>({
	kind: companies.kind,
	readPage: readCompanies,
})

export const history = historyHandler(companies)
