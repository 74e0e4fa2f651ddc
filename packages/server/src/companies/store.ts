import { newId } from '../base/ids.ts'
import { checkParty } from '../base/party-fields.ts'
import { type Db, query } from '../db/database.ts'
import type { CountedPage, PageQuery } from '../db/pages.ts'
import { records } from '../db/records.ts'
import type { WriteContext } from '../db/write-context.ts'
import { changesBetween } from '../events/changes.ts'
import { eventsAbout } from '../events/record-events.ts'
import type { Company, CompanyCreate, CompanyUpdate } from '../generated/contract.ts'
import { blanks, fields } from '../generated/tables.ts'
import type { Call } from '../http/handler.ts'
import { filterBy } from '../lists/filters.ts'
import { findText } from '../search/store.ts'
import { searchTexts } from '../search/texts.ts'
import { sortName } from '../search/words.ts'

interface Filter {
	/** Those that a search found. */
	readonly ids?: readonly string[]
}

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
	filter: filterBy('companies'),
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

/** A page of live companies as JSON texts, and the exact number of all, or of those that a search found. */
export async function readCompanies(
	db: Db,
	organizationId: string,
	{ search, sortBy, sortOrder, limit, offset, after, ...others }: Omit<Call<'companies.list'>['query'], 'cursor'> & PageQuery,
): Promise<CountedPage & { readonly total: number }> {
	// A query parameter that is added to the contract does not compile until it is heeded here.
	others satisfies Record<string, never>
	const order = { column: sortBy === 'name' ? 'sortName' : sortBy, direction: sortOrder }
	const found = await findText(db, organizationId, 'companies', search)
	const counted = found ? { total: found.ids.length } : await db.get(countLive, { organizationId })
	const total = counted?.total ?? 0
	const known = { total, ...(found?.isCut && { isCut: true as const }) }
	// Not where nothing counts yet: on PostgreSQL a transaction sees the number without what it has created itself.
	if (counted && (found || total > 0) && offset >= total) return { rows: [], hasMore: false, ...known }
	const page = await companies.readRows(db, organizationId, { ...(found && { ids: found.ids }), limit, offset, after }, order)
	return { ...page, ...known }
}
