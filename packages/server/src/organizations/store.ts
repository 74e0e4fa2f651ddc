import { newId } from '../base/ids.ts'
import { type Db, query } from '../db/database.ts'
import { insertDefaultPipeline } from '../deals/pipeline-store.ts'
import type { OrganizationSettings, OrganizationSettingsUpdate } from '../generated/contract.ts'

/** An organization as it is stored: its id is the column that every table has. */
export interface Organization extends Omit<OrganizationSettings, 'id'> {
	readonly organizationId: string
	readonly nextInvoiceNumber: number
}

const insert = query<Organization>((knex, row) => knex('organizations').insert(row))

const blank = {
	contactName: null,
	addressLine1: null,
	addressLine2: null,
	city: null,
	state: null,
	postalCode: null,
	country: null,
	email: null,
	phone: null,
	taxId: null,
	timeZone: 'UTC',
	locale: 'en-US',
	defaultCurrency: 'USD',
	hourlyRateCents: null,
	taxRounding: 'document',
	paymentTerms: null,
	nextInvoiceNumber: 1,
	version: 1,
} as const

/** A new organization with its default pipeline. */
export async function insertOrganization(
	db: Db,
	settings: OrganizationSettingsUpdate & { name: string },
	now: number,
): Promise<Organization> {
	const organization = { ...blank, ...settings, organizationId: newId('org'), createdAt: now, updatedAt: now }
	await db.run(insert, organization)
	await insertDefaultPipeline(db, organization.organizationId, now)
	return organization
}

const byId = query<{ organizationId: string }, Organization>((knex, { organizationId }) =>
	knex('organizations').where({ organizationId }).select('*'),
)

export const findOrganization = (db: Db, organizationId: string) => db.get(byId, { organizationId })

/** The organization of a key or of a record, which is never deleted. */
export async function requireOrganization(db: Db, organizationId: string): Promise<Organization> {
	const organization = await findOrganization(db, organizationId)
	if (!organization) throw new Error(`organization ${organizationId} is gone`)
	return organization
}

const byIdForUpdate = query<{ organizationId: string }, Organization>((knex, { organizationId }) =>
	knex('organizations').where({ organizationId }).select('*').forUpdate(),
)

/** The organization, locked until the transaction ends. */
export const lockOrganization = (db: Db, organizationId: string) => db.get(byIdForUpdate, { organizationId })

const update = query<OrganizationSettingsUpdate & { organizationId: string; updatedAt: number; version: number }>(
	(knex, { organizationId, ...columns }) => knex('organizations').where({ organizationId }).update(columns),
)

/** Writes the changes to an organization that was read with `lockOrganization`; returns its new version. */
export async function updateOrganization(
	db: Db,
	{ organizationId, version }: Organization,
	changes: OrganizationSettingsUpdate,
	now: number,
): Promise<number> {
	await db.run(update, { ...changes, organizationId, updatedAt: now, version: version + 1 })
	return version + 1
}

const all = query<object, Organization>((knex) => knex('organizations').select('*').orderBy('createdAt'))

export const listOrganizations = (db: Db) => db.all(all, {})
