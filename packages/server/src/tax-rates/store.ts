import { spellDecimal } from '../base/decimal.ts'
import { fieldError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { type Db, query } from '../db/database.ts'
import { isAnyOf, records } from '../db/records.ts'
import type { TaxRate, TaxRateCreate, TaxRateUpdate } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'
import { lockOrganization } from '../organizations/store.ts'

export const taxRates = records<TaxRate, object, { readonly used: boolean }>('tax_rates', fields.TaxRate)

export async function insertTaxRate(db: Db, organizationId: string, input: TaxRateCreate, now: number): Promise<TaxRate> {
	const { name, label = name, percent, inclusive = false, isDefault = false } = input
	if (isDefault) await takeDefault(db, organizationId, now)
	const rate = {
		organizationId,
		id: newId('txr'),
		name,
		label,
		percent: spellDecimal(percent, 4),
		inclusive,
		isDefault,
		active: true,
		createdAt: now,
		updatedAt: now,
		version: 1,
	}
	await taxRates.insert(db, { ...rate, used: false })
	return rate
}

/** Writes the changes to a tax rate that was read with `lock`; what invoices were computed with stays. */
export async function updateTaxRate(db: Db, rate: TaxRate, changes: TaxRateUpdate, now: number): Promise<TaxRate> {
	const { percent = rate.percent, active = rate.active, isDefault = rate.isDefault } = changes
	if (changes.isDefault && !active) throw fieldError('tax_rate_archived', '/isDefault', 'An archived tax rate is not offered.')
	const next: Partial<TaxRate> = { ...changes, percent: spellDecimal(percent, 4), isDefault: isDefault && active }
	for (const field of ['percent', 'inclusive'] as const) {
		if (next[field] === undefined || next[field] === rate[field] || !(await isUsed(db, rate))) continue
		throw fieldError('tax_rate_in_use', `/${field}`, 'Invoices have this tax rate: archive it and create another.')
	}
	if (next.isDefault && !rate.isDefault) await takeDefault(db, rate.organizationId, now)
	return taxRates.update(db, rate, next, now)
}

const used = query<{ organizationId: string; id: string }, { used: boolean | number }>((knex, key) =>
	knex('tax_rates').where(key).select('used'),
)

const isUsed = async (db: Db, { organizationId, id }: TaxRate) => Boolean((await db.get(used, { organizationId, id }))?.used)

const use = query<{ organizationId: string; ids: readonly string[] }>((knex, { organizationId, ids }, dialect) =>
	knex('tax_rates').where({ organizationId, used: false }).whereRaw(isAnyOf('id', dialect), [ids]).update({ used: true }),
)

/** Notes that invoices have these rates. */
export const useTaxRates = (db: Db, organizationId: string, ids: readonly string[]) => db.run(use, { organizationId, ids })

const clearDefault = query<{ organizationId: string; updatedAt: number }>((knex, { organizationId, updatedAt }) =>
	knex('tax_rates')
		.where({ organizationId, isDefault: true })
		.update({ isDefault: false, updatedAt, version: knex.raw('?? + 1', ['version']) }),
)

/** There is at most one default: whoever makes one holds the organization's lock. */
async function takeDefault(db: Db, organizationId: string, now: number): Promise<void> {
	await lockOrganization(db, organizationId)
	await db.run(clearDefault, { organizationId, updatedAt: now })
}
