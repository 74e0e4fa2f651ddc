import type { Knex } from 'knex'
import { newId } from '../base/ids.ts'
import { checkParty } from '../base/party-fields.ts'
import { type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import type { CountedPage, PageQuery } from '../db/pages.ts'
import { records } from '../db/records.ts'
import type { WriteContext } from '../db/write-context.ts'
import { changesBetween } from '../events/changes.ts'
import { eventsAbout } from '../events/record-events.ts'
import type { Company, CompanyCreate, CompanyUpdate } from '../generated/contract.ts'
import { blanks, fields } from '../generated/tables.ts'
import type { Call } from '../http/handler.ts'
import { ftsQuery, searchText, sortName, tsQuery, words } from './search.ts'

interface Filter {
	/** A full-text expression in the syntax of the database (`ftsQuery` or `tsQuery`). */
	readonly match?: string
	/** Whether few companies match. */
	readonly few?: true
}

/** Of so many that match, PostgreSQL finds a page sooner in the list's order than by sorting all of them. */
const few = 5_000

/** Columns to sort and search by, computed from name and domain. */
interface Derived {
	readonly sortName: string
	readonly searchText: string
}

export const companies = records<Company, Filter, Derived>({
	name: 'company',
	table: 'companies',
	fields: fields.Company,
	softDelete: true,
	filter: found,
})

const derived = ({ name, domain }: Pick<Company, 'name' | 'domain'>): Derived => ({
	sortName: sortName(name),
	searchText: searchText(name, domain),
})

const record = eventsAbout<Company, `company.${'created' | 'updated' | 'deleted' | 'restored'}`>('company')

export async function createCompany(write: WriteContext, input: CompanyCreate): Promise<Company> {
	const { db, origin, organization } = write
	const { now } = origin
	const systemFields = { organizationId: organization.id, id: newId('cmp'), createdAt: now, updatedAt: now, version: 1 }
	const company: Company = { ...blanks.Company, ...checkParty(input), ...systemFields }
	const data = await companies.insert(write, company, derived(company))
	await record(db, origin, 'company.created', company, { data })
	return company
}

/** Changes a company that was read with `lock`. */
export async function changeCompany(write: WriteContext, stored: Company, input: CompanyUpdate): Promise<Company> {
	const { db, origin } = write
	const { name = stored.name, domain = stored.domain } = input
	const renamed = (name !== stored.name || domain !== stored.domain) && derived({ name, domain })
	const company = await companies.update(write, stored, { ...checkParty(input), ...renamed })
	if (Object.keys(changesBetween(stored, company)).length > 0)
		await record(db, origin, 'company.updated', company, { before: stored })
	return company
}

/** Soft-deletes a company that was read with `lock`. */
export async function removeCompany(write: WriteContext, stored: Company): Promise<void> {
	const { db, origin } = write
	const company = await companies.update(write, stored, { deletedAt: origin.now }, 'deleted')
	await record(db, origin, 'company.deleted', company)
}

/** Brings a deleted company back as it was; undefined unless it is one. */
export async function restoreCompany(write: WriteContext, id: string): Promise<Company | undefined> {
	const { db, origin, organization } = write
	const stored = await companies.lockDeleted(db, organization.id, id)
	if (!stored) return undefined
	const company = await companies.update(write, stored, { deletedAt: null }, 'restored')
	await record(db, origin, 'company.restored', company)
	return company
}

type Filters = Placeholders<Filter & { organizationId: string }>

function found(
	rows: Knex.QueryBuilder,
	knex: Knex,
	{ organizationId, match, few }: Filters,
	dialect: Dialect,
): Knex.QueryBuilder {
	if (!match) return rows.where({ organizationId })
	if (dialect === 'postgres') {
		const matching = (all: Knex.QueryBuilder) => all.where({ organizationId }).whereRaw('"searchVector" @@ ?::tsquery', [match])
		// PostgreSQL cannot know how many match; "offset 0" keeps it from walking the list.
		const all = matching(knex('companies')).whereNull('deletedAt')
		return few === undefined ? matching(rows) : rows.from(knex.raw('(? offset 0) as companies', [all]))
	}
	// `+` keeps SQLite from walking all companies in the list's order and testing each against the search.
	return rows.whereRaw('+"organizationId" = ?', [organizationId]).whereIn('rowid', indexed(knex, match).select('rowid'))
}

interface Matching {
	readonly organizationId: string
	readonly match: string
}

/** The FTS5 index holds only live companies, and its words name the organization: it counts without the table. */
const countFound = query<Matching, { total: number }>((knex, filters, dialect) => {
	const all =
		dialect === 'sqlite' ? indexed(knex, filters.match) : found(knex('companies'), knex, filters, dialect).whereNull('deletedAt')
	return all.count({ total: '*' })
})

/** What triggers count as companies are written (migration 0072). */
const countLive = query<{ organizationId: string }, { total: number }>((knex, { organizationId }) =>
	knex('record_counts')
		.where({ organizationId, kind: 'company' })
		.select(knex.raw('cast(coalesce(sum(live), 0) as bigint) as total')),
)

const indexed = (knex: Knex, match: Knex.Value) => knex('company_search').whereRaw('company_search match ?', [match])

/** A page of live companies as JSON texts, and the exact number of all that match. */
export async function readCompanies(
	db: Db,
	organizationId: string,
	{ search, sortBy, sortOrder, limit, offset, after, ...others }: Omit<Call<'companies.list'>['query'], 'cursor'> & PageQuery,
): Promise<CountedPage & { readonly total: number }> {
	// A query parameter that is added to the contract does not compile until it is heeded here.
	others satisfies Record<string, never>
	const none = { rows: [], hasMore: false }
	const prefixes = words(search ?? '')
	// A search for punctuation alone matches nothing; an empty search lists every company.
	if (prefixes.length === 0 && search?.trim()) return { ...none, total: 0 }
	const match = prefixes.length > 0 ? (db.dialect === 'sqlite' ? ftsQuery : tsQuery)(organizationId, prefixes) : undefined
	const counted = await (match === undefined
		? db.get(countLive, { organizationId })
		: db.get(countFound, { organizationId, match }))
	const total = counted?.total ?? 0
	// Not where nothing counts yet: on PostgreSQL a transaction sees the number without what it has created itself.
	if (counted && total > 0 && offset >= total) return { ...none, total }
	const order = { column: sortBy === 'name' ? 'sortName' : sortBy, direction: sortOrder }
	const filter = match !== undefined && { match, ...(db.dialect === 'postgres' && total <= few && { few: true as const }) }
	return { ...(await companies.readRows(db, organizationId, { ...filter, limit, offset, after }, order)), total }
}
