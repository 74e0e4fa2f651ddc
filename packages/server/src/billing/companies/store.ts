import type { Company, CompanyCreate, CompanyUpdate } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { newId } from '../../platform/base/ids.ts'
import { checkParty } from '../../platform/base/party-fields.ts'
import { sortName } from '../../platform/base/search-words.ts'
import { asNumber, type Db, query } from '../../platform/db/database.ts'
import type { CountedPage, PageQuery } from '../../platform/db/pages.ts'
import { type ListFilter, records } from '../../platform/db/records.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { changesBetween } from '../../platform/events/changes.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'
import type { Call } from '../../platform/http/handler.ts'
import type { Instants } from '../../platform/lists/dates.ts'
import { filterBy } from '../../platform/lists/filters.ts'
import { type Left, leftBySearch, type Searched, type SearchText } from '../search/lists.ts'
import { mostChosen } from '../search/store.ts'
import { searchTexts } from '../search/texts.ts'

type Asked = Instants<ListFilter<'companies.list'>, 'updatedSince'>

/** Columns to sort and search by, computed from name and domain. */
interface Derived extends SearchText {
	readonly sortName: string
}

export const companies = records<Company, Searched<Asked>, Derived>({
	name: 'company',
	table: 'companies',
	fields: fields.Company,
	softDelete: true,
	filter: filterBy('companies', { updatedSince: ['updatedAt', '>='] }),
	sparse: (column) => (column === 'updatedAt' ? [] : ['updatedSince']),
})

const derived = ({ name, domain }: Pick<Company, 'name' | 'domain'>): Derived => ({
	sortName: sortName(name),
	searchText: searchTexts.companies({ name, domain }),
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

/** What triggers count as companies are written (migration 0072). */
const countLive = query<{ organizationId: string }, { total: number }>((knex, { organizationId }) =>
	knex('record_counts')
		.where({ organizationId, kind: 'company' })
		.select(knex.raw('cast(coalesce(sum(live), 0) as bigint) as total')),
)

interface Change {
	readonly organizationId: string
	readonly updatedSince: number
	readonly limit: number
}

const changed = query<Change, { json: string }>((knex, { organizationId, updatedSince, limit }) =>
	knex('companies')
		.where({ organizationId })
		.where('updatedAt', '>=', updatedSince)
		.whereNull('deletedAt')
		.orderBy(['updatedAt', 'id'])
		.limit(asNumber(limit))
		.select({ json: 'id' }),
)

/** What a time of change leaves: few companies, or a filter of more. */
async function leftByChange(db: Db, organizationId: string, updatedSince: number): Promise<Left<{ updatedSince: number }>> {
	const ids = await db.column(changed, { organizationId, updatedSince, limit: mostChosen + 1 })
	const isCut = ids.length > mostChosen
	return { filter: isCut ? { updatedSince } : { ids }, found: Math.min(ids.length, mostChosen), isCut }
}

export interface CompanyPage extends CountedPage {
	readonly total: number
	/** Whether more may match than the total says. */
	readonly isAtLeast?: true
}

type Query = Asked & Pick<Call<'companies.list'>['query'], 'sortBy' | 'sortOrder'> & PageQuery

/** A page of live companies as JSON texts, with the number of all, or of those that match. */
export async function readCompanies(
	db: Db,
	organizationId: string,
	{ search, updatedSince, sortBy, sortOrder, limit, offset, after, ...others }: Query,
): Promise<CompanyPage> {
	// A query parameter that is added to the contract does not compile until it is heeded here.
	others satisfies Record<string, never>
	const order = { column: sortBy === 'name' ? 'sortName' : sortBy, direction: sortOrder }
	const asked = { limit, offset, after }
	const left = await leftBySearch(db, organizationId, 'companies', search)
	if (left && updatedSince !== undefined) {
		const page = await companies.readPage(db, organizationId, { ...left.filter, updatedSince, ...asked }, order)
		if (page.total !== null) return { ...page, total: page.total }
		return { ...page, total: offset + page.rows.length, isAtLeast: true }
	}
	const leaves = left ?? (updatedSince === undefined ? undefined : await leftByChange(db, organizationId, updatedSince))
	const counted = leaves ? { total: leaves.found } : await db.get(countLive, { organizationId })
	const total = counted?.total ?? 0
	const known = { total, ...(leaves?.isCut && { isAtLeast: true as const }) }
	// Not where nothing counts yet: on PostgreSQL a transaction sees the number without what it has created itself.
	const isBeyond = leaves ? !leaves.isCut && offset >= total : total > 0 && offset >= total
	if (isBeyond) return { rows: [], hasMore: false, ...known }
	const page = await companies.readRows(db, organizationId, { ...leaves?.filter, ...asked }, order)
	return { ...page, ...known, total: Math.max(total, offset + page.rows.length) }
}
