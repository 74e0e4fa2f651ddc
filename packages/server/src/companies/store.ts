import type { Knex } from 'knex'
import { newId } from '../base/ids.ts'
import type { Origin } from '../base/origin.ts'
import { type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import { records } from '../db/records.ts'
import { type Changes, changesBetween } from '../events/changes.ts'
import { recordEvent } from '../events/record.ts'
import type { Company, CompanyCreate, CompanySort, CompanyUpdate, SortOrder } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'
import { ftsQuery, searchText, sortName, tsQuery, words } from './search.ts'

/** What reads a company by its id; lists are searched, and stand below. */
export const companies = records<Company, object>('companies', fields.Company, { softDelete: true })

const liveOrDeleted = query<{ organizationId: string; id: string }, { json: string }>((knex, key, dialect) =>
	knex('companies')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.Company)),
)

/** The company, deleted or not: records that point to it keep working. */
export async function findCompanyEvenDeleted(db: Db, organizationId: string, id: string): Promise<Company | undefined> {
	const row = await db.get(liveOrDeleted, { organizationId, id })
	return row && (JSON.parse(row.json) as Company)
}

interface CompanyRow extends Company {
	readonly sortName: string
	readonly searchText: string
}

const insert = query<CompanyRow>((knex, row) => knex('companies').insert(row))

export async function insertCompany(db: Db, organizationId: string, input: CompanyCreate, origin: Origin): Promise<Company> {
	const { now } = origin
	const { name, ...details } = input
	const company = {
		...noDetails,
		...details,
		id: newId('cmp'),
		organizationId,
		name,
		createdAt: now,
		updatedAt: now,
		deletedAt: null,
		version: 1,
	}
	await db.run(insert, { ...company, ...derived(company) })
	await tell(db, origin, 'company.created', company)
	return company
}

const noDetails = {
	domain: null,
	phone: null,
	notes: null,
	billingContactName: null,
	billingAddressLine1: null,
	billingAddressLine2: null,
	billingCity: null,
	billingState: null,
	billingPostalCode: null,
	billingCountry: null,
	billingEmail: null,
}

/** What sorting and searching go by. */
const derived = ({ name, domain }: Pick<Company, 'name' | 'domain'>) => ({
	sortName: sortName(name),
	searchText: searchText(name, domain),
})

const update = query<CompanyRow>((knex, { organizationId, id, ...columns }) =>
	knex('companies').where({ organizationId, id }).update(columns),
)

/** Writes the changes to a company that was read with `lockCompany`; returns its new version. */
export async function updateCompany(db: Db, company: Company, changes: CompanyUpdate, origin: Origin): Promise<number> {
	const changed = await write(db, company, changes, origin)
	const difference = changesBetween(company, changed)
	if (Object.keys(difference).length > 0) await tell(db, origin, 'company.updated', changed, difference)
	return changed.version
}

/** Deletes a company that was read with `lockCompany`: it stays, and no longer shows. */
export async function removeCompany(db: Db, company: Company, origin: Origin): Promise<void> {
	await tell(db, origin, 'company.deleted', await write(db, company, { deletedAt: origin.now }, origin))
}

async function write(db: Db, company: Company, changes: Partial<Company>, { now }: Origin): Promise<Company> {
	const changed = { ...company, ...changes, updatedAt: now, version: company.version + 1 }
	await db.run(update, { ...changed, ...derived(changed) })
	return changed
}

function tell(
	db: Db,
	origin: Origin,
	type: `company.${'created' | 'updated' | 'deleted'}`,
	company: Company,
	changes?: Changes,
): Promise<string> {
	const { organizationId, id } = company
	const data = JSON.stringify(company)
	return recordEvent(db, origin, { type, organizationId, resource: 'company', resourceId: id, data, ...(changes && { changes }) })
}

export interface CompanyListQuery {
	readonly search?: string
	readonly sortBy: CompanySort
	readonly sortOrder: SortOrder
	readonly limit: number
	readonly offset: number
}

interface Filter {
	readonly organizationId: string
	readonly match?: string
}

interface PageParams extends Filter {
	readonly limit: number
	readonly offset: number
}

function filtered(knex: Knex, { organizationId, match }: Placeholders<Filter>, dialect: Dialect) {
	const live = knex('companies').whereNull('deletedAt')
	if (!match) return live.where({ organizationId })
	if (dialect === 'postgres') return live.where({ organizationId }).whereRaw('"searchVector" @@ ?::tsquery', [match])
	// `+` keeps SQLite from walking all companies in the list's order and asking of each whether it was found.
	const found = knex('company_search').whereRaw('company_search match ?', [match]).select('rowid')
	return live.whereRaw('+"organizationId" = ?', [organizationId]).whereIn('rowid', found)
}

const pageBy = (column: 'sortName' | 'createdAt', order: SortOrder) =>
	query<PageParams, { json: string }>((knex, params, dialect) =>
		filtered(knex, params, dialect)
			.select(jsonColumn(knex, dialect, fields.Company))
			.orderBy([
				{ column, order },
				{ column: 'id', order },
			])
			.limit(params.limit as never)
			.offset(params.offset as never),
	)

const pages = {
	name: { asc: pageBy('sortName', 'asc'), desc: pageBy('sortName', 'desc') },
	createdAt: { asc: pageBy('createdAt', 'asc'), desc: pageBy('createdAt', 'desc') },
}

const count = query<Filter, { total: number }>((knex, params, dialect) =>
	// FTS5's index holds live companies only, and its words their organization: it can answer alone.
	params.match && dialect === 'sqlite'
		? knex('company_search').whereRaw('company_search match ?', [params.match]).count({ total: '*' })
		: filtered(knex, params, dialect).count({ total: '*' }),
)

/** A page of live companies as JSON texts, and how many there are in all. */
export async function listCompanies(
	db: Db,
	organizationId: string,
	{ search, sortBy, sortOrder, limit, offset }: CompanyListQuery,
) {
	const prefixes = words(search ?? '')
	// A search for nothing but punctuation matches nothing; an empty one is no search.
	if (prefixes.length === 0 && search?.trim()) return { rows: [], total: 0 }
	const match = prefixes.length > 0 ? (db.dialect === 'sqlite' ? ftsQuery : tsQuery)(organizationId, prefixes) : undefined
	const rows = await db.column(pages[sortBy][sortOrder], { organizationId, match, limit, offset })
	if (rows.length > 0 && rows.length < limit) return { rows, total: offset + rows.length }
	const counted = await db.get(count, { organizationId, match })
	return { rows, total: counted?.total ?? 0 }
}
