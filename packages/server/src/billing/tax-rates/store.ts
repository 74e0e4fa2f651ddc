import { lockOrganization } from '../../accounts/doors.ts'
import type { TaxRate, TaxRateCreate, TaxRateUpdate } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { spellDecimal } from '../../platform/base/decimal.ts'
import { fieldError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { isAnyOf, records } from '../../platform/db/records.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'

export const taxRates = records<TaxRate, object, { readonly used: boolean }>({
	name: 'tax_rate',
	table: 'tax_rates',
	fields: fields.TaxRate,
})

const record = eventsAbout<TaxRate, `tax_rate.${'created' | 'updated' | 'deleted'}`>('tax_rate')

export async function createTaxRate(write: WriteContext, input: TaxRateCreate): Promise<TaxRate> {
	const { db, origin, organization } = write
	const { name, label = name, percent, inclusive = false, isDefault = false } = input
	if (isDefault) await clearDefault(write)
	const rate: TaxRate = {
		organizationId: organization.id,
		id: newId('txr'),
		name,
		label,
		percent: spellDecimal(percent, 4),
		inclusive,
		isDefault,
		active: true,
		createdAt: origin.now,
		updatedAt: origin.now,
		version: 1,
	}
	const data = await taxRates.insert(write, rate, { used: false })
	await record(db, origin, 'tax_rate.created', rate, { data })
	return rate
}

/** Changes a tax rate that was read with `lock`; once invoices use it, its percentage and inclusion are fixed. */
export async function changeTaxRate(write: WriteContext, stored: TaxRate, input: TaxRateUpdate): Promise<TaxRate> {
	const { percent = stored.percent, active = stored.active, isDefault = stored.isDefault } = input
	if (input.isDefault && !active) throw fieldError('tax_rate_archived', '/isDefault', 'An archived tax rate is not offered.')
	const changes: Partial<TaxRate> = { ...input, percent: spellDecimal(percent, 4), isDefault: isDefault && active }
	for (const field of ['percent', 'inclusive'] as const) {
		if (changes[field] === undefined || changes[field] === stored[field] || !(await isUsed(write.db, stored))) continue
		throw fieldError('tax_rate_in_use', `/${field}`, 'Invoices have this tax rate: archive it and create another.')
	}
	if (changes.isDefault && !stored.isDefault) await clearDefault(write)
	return updateTaxRate(write, stored, changes)
}

async function updateTaxRate(write: WriteContext, stored: TaxRate, changes: Partial<TaxRate>): Promise<TaxRate> {
	const { db, origin } = write
	const rate = await taxRates.update(write, stored, changes)
	if (rate === stored) return rate
	await record(db, origin, 'tax_rate.updated', rate, { before: stored })
	// A change may archive it as well.
	if (stored.active && !rate.active) await record(db, origin, 'tax_rate.deleted', rate)
	return rate
}

/** Archives a tax rate that was read with `lock`. */
export async function archiveTaxRate(write: WriteContext, stored: TaxRate): Promise<void> {
	if (!stored.active) return
	const { db, origin } = write
	const rate = await taxRates.update(write, stored, { active: false, isDefault: false }, 'deleted')
	await record(db, origin, 'tax_rate.deleted', rate)
}

const used = query<{ organizationId: string; id: string }, { used: boolean | number }>((knex, key) =>
	knex('tax_rates').where(key).select('used'),
)

const isUsed = async (db: Db, { organizationId, id }: TaxRate) => Boolean((await db.get(used, { organizationId, id }))?.used)

const markUsed = query<{ organizationId: string; ids: readonly string[] }>((knex, { organizationId, ids }, dialect) =>
	knex('tax_rates').where({ organizationId, used: false }).whereRaw(isAnyOf('id', dialect), [ids]).update({ used: true }),
)

/** Marks rates as used by invoices: from now on their percentage and inclusion are fixed. */
export const markRatesUsed = (db: Db, organizationId: string, ids: readonly string[]) => db.run(markUsed, { organizationId, ids })

const theDefault = query<{ organizationId: string }, { id: string }>((knex, { organizationId }) =>
	knex('tax_rates').where({ organizationId, isDefault: true }).select('id'),
)

/** An organization has at most one default: a change that sets it holds the organization's lock until it commits. */
async function clearDefault(write: WriteContext): Promise<void> {
	const { db, organization } = write
	await lockOrganization(db, organization.id)
	const found = await db.get(theDefault, { organizationId: organization.id })
	const rate = found && (await taxRates.lock(db, organization.id, found.id))
	if (rate) await updateTaxRate(write, rate, { isDefault: false })
}
