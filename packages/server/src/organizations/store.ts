import { type Db, query } from '../db.ts'
import { insertDefaultPipeline } from '../deals/store.ts'
import type { TaxRounding } from '../generated/contract.ts'
import { newId } from '../ids.ts'

export interface Organization {
	readonly organizationId: string
	readonly name: string
	/** IANA name: where its days begin and end. */
	readonly timeZone: string
	readonly taxRounding: TaxRounding
	readonly nextInvoiceNumber: number
	readonly createdAt: number
}

const insert = query<Organization>((knex, row) => knex('organizations').insert(row))

/** A new organization with its default pipeline. */
export async function insertOrganization(
	db: Db,
	{
		name,
		timeZone = 'UTC',
		taxRounding = 'document' as TaxRounding,
		now,
	}: { name: string; timeZone?: string; taxRounding?: TaxRounding; now: number },
): Promise<Organization> {
	const organization = { organizationId: newId('org'), name, timeZone, taxRounding, nextInvoiceNumber: 1, createdAt: now }
	await db.run(insert, organization)
	await insertDefaultPipeline(db, organization.organizationId, now)
	return organization
}

const byId = query<{ organizationId: string }, Organization>((knex, { organizationId }) =>
	knex('organizations').where({ organizationId }).select('*'),
)

export const findOrganization = (db: Db, organizationId: string) => db.get(byId, { organizationId })

const all = query<object, Organization>((knex) => knex('organizations').select('*').orderBy('createdAt'))

export const listOrganizations = (db: Db) => db.all(all, {})

export function isTimeZone(name: string): boolean {
	try {
		new Intl.DateTimeFormat('en', { timeZone: name })
		return true
	} catch {
		return false
	}
}
