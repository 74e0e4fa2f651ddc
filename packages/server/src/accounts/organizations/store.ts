import type { Knex } from 'knex'
import type { Logo, OrganizationSettings, OrganizationSettingsUpdate } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { checkAll } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Origin } from '../../platform/base/origin.ts'
import { checkParty } from '../../platform/base/party-fields.ts'
import { difference, isNothing, recordChange } from '../../platform/db/audit-log.ts'
import { type Db, type Dialect, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { type WriteContext, withoutOrder } from '../../platform/db/write-context.ts'
import type { BeginOrganization } from '../../platform/outside/services.ts'
import { scheduleJob } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import { requireContrast } from './contrast.ts'

/** The id is stored as `organizationId`, the column that every table has. */
interface Row extends Omit<OrganizationSettings, 'id'> {
	readonly organizationId: string
	readonly nextInvoiceNumber: number
}

const audited = (id: string) => ({ organizationId: id, resource: 'organization_settings', resourceId: id }) as const

const insert = query<Row>((knex, row) => knex('organizations').insert(row))

const defaults = {
	timeZone: 'UTC',
	language: 'en',
	locale: 'en-US',
	defaultCurrency: 'USD',
	taxRounding: 'document',
	timeRounding: 'none',
	timeRoundingMinutes: 15,
	publishDrafts: true,
	numberOnIssue: false,
	invoiceNumberPrefix: 'INV-',
	invoiceNumberDigits: 4,
	connectReturnOrigins: [] as string[],
} as const

/** Creates an organization, and with `begin` what it has of other contexts. */
export async function createOrganization(
	db: Db,
	origin: Origin,
	settings: OrganizationSettingsUpdate & { name: string },
	begin: BeginOrganization,
): Promise<OrganizationSettings> {
	const { now } = origin
	const systemFields = { id: newId('org'), createdAt: now, updatedAt: now, version: 1 }
	const organization: OrganizationSettings = {
		...blanks.OrganizationSettings,
		...defaults,
		...checkParty(settings),
		...systemFields,
	}
	const { id: organizationId, ...columns } = organization
	await db.run(insert, { ...columns, organizationId, nextInvoiceNumber: 1 })
	await recordChange({ db, origin }, { ...audited(organizationId), action: 'created', after: JSON.stringify(organization) })
	await begin({ db, origin: withoutOrder(origin), organization })
	return organization
}

const settingsJson = (knex: Knex, dialect: Dialect) =>
	jsonColumn(knex, dialect, fields.OrganizationSettings, { id: knex.raw('??', ['organizationId']) })

interface Key {
	readonly organizationId: string
}

const one = query<Key, { json: string }>((knex, key, dialect) =>
	knex('organizations').where(key).select(settingsJson(knex, dialect)),
)
const locked = query<Key, { json: string }>((knex, key, dialect) =>
	knex('organizations').where(key).select(settingsJson(knex, dialect)).forUpdate(),
)

const parsed = (row: { json: string } | undefined) => row && (JSON.parse(row.json) as OrganizationSettings)

export const findOrganization = async (db: Db, organizationId: string) => parsed(await db.get(one, { organizationId }))

/** The organization of a key or a record. Organizations are never deleted, so none is missing. */
export async function requireOrganization(db: Db, organizationId: string): Promise<OrganizationSettings> {
	const organization = await findOrganization(db, organizationId)
	if (!organization) throw new Error(`organization ${organizationId} is gone`)
	return organization
}

/** The organization, locked until the transaction ends. */
export async function lockOrganization(db: Db, organizationId: string): Promise<OrganizationSettings> {
	const organization = parsed(await db.get(locked, { organizationId }))
	if (!organization) throw new Error(`organization ${organizationId} is gone`)
	return organization
}

/** What is written of an organization: a logo by an operation of its own. */
interface WrittenSettings extends OrganizationSettingsUpdate {
	readonly logo?: Logo | null
}

const update = query<WrittenSettings & Key & { updatedAt: number; version: number }>((knex, { organizationId, ...columns }) =>
	knex('organizations').where({ organizationId }).update(columns),
)

/** Changes an organization that was read with `lockOrganization`; returns its version. */
export async function changeOrganization(
	{ db, origin }: WriteContext,
	stored: OrganizationSettings,
	written: WrittenSettings,
): Promise<number> {
	const [input] = checkAll(
		() => checkParty(written),
		() => written.accentColor && requireContrast(written.accentColor),
	)
	const values = difference(stored, input)
	if (isNothing(values)) return stored.version
	const version = stored.version + 1
	await db.run(update, { ...input, organizationId: stored.id, updatedAt: origin.now, version })
	// Its days end at other times: the job finds out when.
	if (input.timeZone !== undefined && input.timeZone !== stored.timeZone)
		await scheduleJob(db, { organizationId: stored.id, kind: jobKinds.overdue, resourceId: '', dueAt: origin.now })
	await recordChange({ db, origin }, { ...audited(stored.id), action: 'updated', ...values })
	return version
}

const all = query<object, { json: string }>((knex, _, dialect) =>
	knex('organizations').select(settingsJson(knex, dialect)).orderBy('createdAt'),
)

export const listOrganizations = async (db: Db) =>
	(await db.column(all, {})).map((json) => JSON.parse(json) as OrganizationSettings)

const demo = query<Key>((knex, key) => knex('organizations').where(key).update({ isDemo: true }))

/** Marks an organization as made up (app/hosted/test-mode.ts). */
export const markAsDemo = (db: Db, organizationId: string) => db.run(demo, { organizationId })

const demos = query<Partial<Key>, Key>((knex, key) =>
	knex('organizations').where(key).where({ isDemo: true }).select('organizationId'),
)

export const listDemoOrganizations = async (db: Db, key: Partial<Key> = {}) =>
	(await db.all(demos, key)).map(({ organizationId }) => organizationId)

const { id: _id, ...settingsFields } = fields.OrganizationSettings
const rowFields = { organizationId: 'string', ...settingsFields, nextInvoiceNumber: 'number' } as const

const rows = query<Partial<Key>, { json: string }>((knex, key, dialect) =>
	knex('organizations')
		.where(key)
		.select(jsonColumn(knex, dialect, rowFields))
		.orderBy('createdAt'),
)

/** Organizations with the number of their next invoice, all or one: for the command line. */
export const listOrganizationRows = async (db: Db, key: Partial<Key> = {}) =>
	(await db.column(rows, key)).map((json) => JSON.parse(json) as Row)
