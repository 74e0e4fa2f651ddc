import type { Company, CompanyListMeta } from '../../generated/contract.ts'
import { historyHandler } from '../../platform/audit/history.ts'
import type { Call, Handler } from '../../platform/http/handler.ts'
import { listHandler, recordHandlers } from '../../platform/http/record-handlers.ts'
import { type Instants, withInstants } from '../../platform/lists/dates.ts'
import { changeCompany, companies, createCompany, readCompanies, removeCompany } from './store.ts'

export const { get, create, update, remove } = recordHandlers(companies, '/api/companies', {
	create: createCompany,
	change: changeCompany,
	remove: removeCompany,
})

const listCompanies = listHandler<Company, Instants<Call<'companies.list'>['query'], 'updatedSince'>, CompanyListMeta>({
	kind: companies.kind,
	readPage: readCompanies,
})

export const list: Handler<'companies.list'> = ({ query, caller }, context) => {
	const since = withInstants(query, caller.organization.timeZone, { begin: ['updatedSince'] })
	return listCompanies({ query: since, caller }, context)
}

export const history = historyHandler(companies)
