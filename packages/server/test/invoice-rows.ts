// Many invoices of all kinds, and what filters and orders make of them in JavaScript: for the tests of the list.
import { dayMs } from '../src/platform/base/dates.ts'
import type { Tenant, TestServer } from './harness.ts'
import { type Ask, readTables } from './tables.ts'

export interface Row {
	readonly id: string
	readonly invoiceNumber: string
	readonly status: string
	readonly currency: string
	readonly companyId: string | null
	readonly dealId: string | null
	readonly totalCents: number
	readonly amountPaidCents: number
	readonly issuedDate: number | null
	readonly dueDate: number | null
	readonly paidDate: number | null
	readonly createdAt: number
	readonly updatedAt: number
}

const columns = [
	...['id', 'invoiceNumber', 'status', 'currency', 'companyId', 'dealId', 'totalCents', 'amountPaidCents'],
	...['issuedDate', 'dueDate', 'paidDate', 'createdAt', 'updatedAt'],
]

/** A day near which all dates are. */
export const middle = Date.UTC(2026, 2, 1)

/** A number below `most` that looks like chance, by the row's number `n`. */
const chance = (factor: number, most: number) => `(((n + 17) * ${factor}) % 10007 % ${most})`

/** Days and instants, of which many are alike. */
const date = (factor: number, missing: number) =>
	`case when ${chance(factor, missing)} = 0 then null when n % 2 = 0 then ${middle} + cast(${chance(factor, 60)} - 30 as bigint) * ${dayMs}
		else ${middle} + cast(${chance(factor, 60)} - 30 as bigint) * ${dayMs} + cast(${chance(factor + 2, 24)} as bigint) * 3600000 + 1 end`

/** Writes copies of an invoice by SQL, and returns them. */
export async function growInvoices(server: TestServer, tenant: Tenant, ask: Ask, count: number): Promise<Row[]> {
	const { organizationId } = tenant
	const companyId = (await tenant.remit.companies.create({ name: 'Acme' })).id
	const dealId = await tenant.newDeal()
	const { id } = await tenant.remit.invoices.create({ totalCents: 1 })
	const values: Record<string, string> = {
		id: `'inv_grown' || ((n * 7919) % 1000003)`,
		invoiceNumber: `case n % 3 when 0 then 'INV-' || n when 1 then 'INV-00' || n else 'Ä-' || (n % 7) || '-' || n end`,
		status: `case ${chance(31, 10)} when 0 then 'draft' when 1 then 'sent' when 2 then 'overdue' when 3 then 'cancelled' else 'paid' end`,
		currency: `case when n % 5000 = 3 then 'JPY' when n % 3 = 0 then 'USD' else 'EUR' end`,
		companyId: `case when n % 400 = 1 then '${companyId}' end`,
		dealId: `case when n % 3 = 1 then '${dealId}' end`,
		totalCents: `${chance(37, 500)} - 50`,
		amountPaidCents: `case ${chance(41, 4)} when 0 then 0 when 1 then 20 else ${chance(37, 500)} - 50 end`,
		issuedDate: date(43, 4),
		dueDate: date(47, 3),
		paidDate: date(53, 5),
		createdAt: `${middle} + cast(n / 3 as bigint) * 60000`,
		updatedAt: `${middle} + cast(${chance(59, 10007)} as bigint) * 600000`,
	}
	const tables = await readTables(server.db.dialect, ask)
	const all = tables.find(({ name }) => name === 'invoices')?.columns.filter((column) => column !== 'rowid') ?? []
	const names = all.map((column) => `"${column}"`).join(', ')
	await ask(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
		insert into invoices (${names}) select ${all.map((column) => values[column] ?? `"${column}"`).join(', ')}
		from (select * from invoices where id = '${id}') as source, numbers`)
	if (server.db.dialect === 'postgres') await ask('vacuum analyze invoices')
	const rows = await ask(
		`select ${columns.map((column) => `"${column}"`).join(', ')} from invoices where "organizationId" = '${organizationId}'`,
	)
	const numbers = columns.filter((column) => /Cents|Date|At$/.test(column))
	return rows.map((row) => {
		const typed = Object.fromEntries(numbers.map((column) => [column, row[column] === null ? null : Number(row[column])]))
		return { ...row, ...typed } as unknown as Row
	})
}

export const removeGrown = (ask: Ask) => ask("delete from invoices where id like 'inv_grown%'")

/** Filters as a caller writes them. */
export type Filters = Record<string, string | number | boolean | readonly string[]>

/** What the filters leave, by the words of the contract. */
export function filtered(rows: readonly Row[], filters: Filters, timeZone: string, now: number): Row[] {
	const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
	const days = new Map<number, string>()
	const dayOf = (ms: number) => {
		const day = days.get(ms) ?? (ms % dayMs === 0 ? new Date(ms).toISOString().slice(0, 10) : format.format(ms))
		days.set(ms, day)
		return day
	}
	const dayIn = (ms: number) => format.format(ms)
	const isDay = (bound: unknown) => /^\d{4}-\d\d-\d\d$/.test(String(bound))
	/** Days are compared as days, instants as instants, and one with the other by the day of the instant. */
	const compare = (ms: number, bound: string | number): number => {
		const instant = Number(new Date(bound))
		if (isDay(bound) || (typeof bound === 'number' && instant % dayMs === 0))
			return signOf(dayOf(ms), isDay(bound) ? String(bound) : dayOf(instant))
		return ms % dayMs === 0 ? signOf(dayOf(ms), dayOf(instant)) : ms - instant
	}
	const compareTime = (ms: number, bound: string | number): number =>
		isDay(bound) ? signOf(dayIn(ms), String(bound)) : ms - Number(new Date(bound))
	const isWithin = (ms: number | null, name: string, by = compare): boolean => {
		const [from, to] = [filters[`${name}From`], filters[`${name}To`]] as (string | number | undefined)[]
		if (from === undefined && to === undefined) return true
		return ms !== null && (from === undefined || by(ms, from) >= 0) && (to === undefined || by(ms, to) <= 0)
	}
	const isCovered = ({ totalCents: total, amountPaidCents: paid }: Row) =>
		(total > 0 && paid >= total) || (total < 0 && paid <= total)
	const stateOf = (row: Row) => {
		if (isCovered(row) || (row.totalCents === 0 && row.status === 'paid')) return 'paid'
		return row.amountPaidCents === 0 ? 'unpaid' : 'partially_paid'
	}
	const isOutstanding = (row: Row) => !['draft', 'cancelled'].includes(row.status) && row.totalCents !== 0 && !isCovered(row)
	const isOverdue = (row: Row) =>
		isOutstanding(row) && row.totalCents > 0 && row.dueDate !== null && dayOf(row.dueDate) < dayIn(now)
	const { status, companyId, dealId, currency, paymentState, totalMin, totalMax, updatedSince } = filters
	const is = (wanted: unknown, found: unknown) => wanted === undefined || wanted === found
	return rows.filter(
		(row) =>
			(status === undefined || [status].flat().includes(row.status)) &&
			is(companyId, row.companyId) &&
			is(dealId, row.dealId) &&
			is(currency, row.currency) &&
			is(paymentState, stateOf(row)) &&
			is(filters.isOutstanding, isOutstanding(row)) &&
			is(filters.isOverdue, isOverdue(row)) &&
			row.totalCents >= Number(totalMin ?? -1e15) &&
			row.totalCents <= Number(totalMax ?? 1e15) &&
			isWithin(row.issuedDate, 'issued') &&
			isWithin(row.dueDate, 'due') &&
			isWithin(row.paidDate, 'paid') &&
			isWithin(row.createdAt, 'created', compareTime) &&
			(updatedSince === undefined || compareTime(row.updatedAt, updatedSince as string) >= 0),
	)
}

const signOf = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** The rows in an order of the list. */
export function sorted(rows: readonly Row[], sortBy: string, sortOrder: string): Row[] {
	const direction = sortOrder === 'asc' ? 1 : -1
	const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
	const parts = rows.map((row) => {
		const [, text = '', digits = ''] = /^(.*?)(\d*)$/.exec(row.invoiceNumber) ?? []
		return { row, text, number: Number(digits) }
	})
	const byKey = (a: (typeof parts)[number], b: (typeof parts)[number]): number => {
		if (sortBy === 'invoiceNumber') return direction * (bytes(a.text, b.text) || a.number - b.number)
		const [one, other] = [a.row[sortBy as 'dueDate'], b.row[sortBy as 'dueDate']]
		// Without the date: last in both directions.
		if (one === null || other === null) return Number(one === null) - Number(other === null)
		return direction * (one - other)
	}
	return parts.sort((a, b) => byKey(a, b) || direction * bytes(a.row.id, b.row.id)).map(({ row }) => row)
}
