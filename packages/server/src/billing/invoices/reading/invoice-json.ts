// The JSON of an invoice, made by the database: whole or as a summary, with the company and the deal that it names if they are asked for.
import type { Knex } from 'knex'
import type { InvoiceExpansion, InvoiceFields } from '../../../generated/contract.ts'
import { fields } from '../../../generated/tables.ts'
import { dayMs } from '../../../platform/base/dates.ts'
import type { Dialect, Placeholders } from '../../../platform/db/database.ts'
import { type Fields, jsonValue } from '../../../platform/db/json.ts'

export interface Clock {
	/** Today in the organization's time zone, as a date and as an instant (platform/base/dates.ts). */
	readonly todayDate: number
	readonly todayInstant: number
}

/** How much an answer shows of an invoice. Each shape has its own statements, by its name. */
export interface Shape {
	readonly name: string
	readonly summary: boolean
	readonly expand: readonly InvoiceExpansion[]
}

export const whole: Shape = { name: '', summary: false, expand: [] }

/** The shape that a query asks for. */
export function shapeOf({ fields, expand = [] }: { fields?: InvoiceFields; expand?: readonly InvoiceExpansion[] }): Shape {
	if (fields === undefined && expand.length === 0) return whole
	const sorted = [...new Set(expand)].sort()
	return { name: `${fields ?? ''} ${sorted.join(' ')}`, summary: fields === 'summary', expand: sorted }
}

/** A plain date is that calendar day everywhere; a date-time lies in a day of the organization's time zone. */
export const isPastDue = (knex: Knex, { todayDate, todayInstant }: Placeholders<Clock>) =>
	knex.raw(`"dueDate" < ${byKind('dueDate')}`, [todayDate, todayInstant])

/** SQL for the first parameter where a date is a plain one, and for the second where it is an instant. */
export const byKind = (column: string) => `case when "${column}" % ${dayMs} = 0 then cast(? as bigint) else cast(? as bigint) end`

const settled = '"amountPaidCents" + "amountCreditedCents"'

/** Whether money covers a total that is not 0. A total of 0 is paid when its status says so. */
const isCovered = `(("totalCents" > 0 and ${settled} >= "totalCents") or ("totalCents" < 0 and ${settled} <= "totalCents"))`

/** As in invoice.ts. */
export const isOutstanding = `(status not in ('draft', 'cancelled') and "totalCents" <> 0 and not ${isCovered})`

/** As in invoice.ts. */
export const canBeLate = `${isOutstanding} and "totalCents" > 0 and "dueDate" is not null`

export const isOverdue = (knex: Knex, clock: Placeholders<Clock>) => knex.raw(`(${canBeLate} and ?)`, [isPastDue(knex, clock)])

const amountDue = `case when status = 'cancelled' then 0 else "totalCents" - "amountPaidCents" - "amountCreditedCents" end`

export const paymentState = `case when ${isCovered} or ("totalCents" = 0 and status = 'paid') then 'paid'
	when "amountPaidCents" = 0 then 'unpaid' else 'partially_paid' end`

/** The record with the id that an invoice has in a column; null without one. A deleted record is one, too. */
function expansion(knex: Knex, dialect: Dialect, table: string, column: string, ofRecord: Fields): Knex.Raw {
	const record = jsonValue(knex, dialect, ofRecord)
	const named = `${table}."organizationId" = invoices."organizationId" and ${table}.id = invoices."${column}"`
	return dialect === 'sqlite'
		? knex.raw(`(select ? from ${table} where ${named})`, [record])
		: knex.raw(`(select (?)::json from ${table} where ${named})`, [record])
}

const expansions: Record<InvoiceExpansion, (knex: Knex, dialect: Dialect) => Knex.Raw> = {
	company: (knex, dialect) => expansion(knex, dialect, 'companies', 'companyId', fields.Company),
	deal: (knex, dialect) => expansion(knex, dialect, 'deals', 'dealId', fields.Deal),
}

function shownFields({ summary, expand }: Shape): Fields {
	const all: Fields = summary ? fields.InvoiceSummary : fields.ExpandedInvoice
	const isHidden = (name: string) => name in expansions && !expand.includes(name as InvoiceExpansion)
	return Object.fromEntries(Object.entries(all).filter(([name]) => !isHidden(name)))
}

/** The invoice as JSON text. */
export const invoiceJson = (knex: Knex, clock: Placeholders<Clock>, dialect: Dialect, shape = whole) =>
	jsonValue(knex, dialect, shownFields(shape), {
		isOverdue: isOverdue(knex, clock),
		amountDueCents: knex.raw(amountDue),
		paymentState: knex.raw(paymentState),
		...Object.fromEntries(shape.expand.map((name) => [name, expansions[name](knex, dialect)])),
	})
