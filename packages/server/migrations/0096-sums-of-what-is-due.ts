import type { Knex } from 'knex'
import { isCountedAnew, isOutstanding } from './0095-outstanding-invoices.ts'

/** Servers of before write sums by the triggers, whatever these are. */
export const needs = 0

/**
 * The sums of invoices (0081) are of what is due, not of a status: an invoice whose caller wrote `paid` before its total rose is counted, and one
 * whose total is 0 is not. Only invoices of which the sums said something else are read.
 */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	// Whoever writes invoices has added them to the sums when this lock is had.
	if (!sqlite) await knex.raw('do $$ begin lock table invoices in share row exclusive mode; end $$')
	const was = rowsOf(statusIsOpen, '>=')('r', sqlite).map((row) => select('r', row, '-1', changed))
	const is = rowsOf(isOutstanding, '>')('r', sqlite).map((row) => select('r', row, '1', changed))
	await knex.raw(summed([...was, ...is], '0'))
	await (sqlite ? replaceTriggers(knex) : knex.raw(sumInvoices()))
}

const changed = `(select * from invoices where ${isCountedAnew}) as r`

const settled = '"amountPaidCents" + "amountCreditedCents"'
const statusIsOpen = `(status in ('sent', 'overdue') and
	not (("totalCents" > 0 and ${settled} >= "totalCents") or ("totalCents" < 0 and ${settled} <= "totalCents")))`

const dayMs = 86_400_000
const quarterMs = 900_000
/** Without a due date; an invoice below 0 is never overdue either. */
const never = Number.MAX_SAFE_INTEGER

/** What an invoice adds to. */
interface Row {
	/** Names its triggers. */
	readonly name: string
	readonly figure: string
	readonly at: string
	readonly cents: string
	readonly where: string
}

const columns = ['status', 'currency', 'totalCents', 'amountPaidCents', 'amountCreditedCents', 'dueDate']

/** The condition with its columns of one row, such as `new`. */
const of = (row: string, condition: string) =>
	condition.replaceAll(/"(totalCents|amountPaidCents|amountCreditedCents)"|\bstatus\b/g, `${row}.$&`)

const rowsOf =
	(open: string, least: '>' | '>=') =>
	(row: string, sqlite: boolean): Row[] => {
		const [total, due, isOpen] = [`${row}."totalCents"`, `${row}."dueDate"`, of(row, open)]
		const cents = of(row, `"totalCents" - (${settled})`)
		const isDated = `${due} is not null and ${total} ${least} 0`
		const month = sqlite
			? `strftime('%s', ${due} / 1000, 'unixepoch', 'start of month') * 1000`
			: `cast(extract(epoch from date_trunc('month', timestamp 'epoch' + ${due} * interval '1 millisecond')) as bigint) * 1000`
		return [
			{ name: 'open', figure: "'open'", at: `case when ${isDated} then ${month} else ${never} end`, cents, where: isOpen },
			{
				name: 'due',
				figure: `case ${due} % ${dayMs} when 0 then 'due' else 'due_at' end`,
				at: `${due} - ${due} % ${quarterMs}`,
				cents,
				where: `${isOpen} and ${isDated}`,
			},
		]
	}

const drafts = (row: string): Row => ({
	name: 'drafts',
	figure: "'draft'",
	at: '0',
	cents: of(row, `"totalCents" - (${settled})`),
	where: `${row}.status = 'draft'`,
})

const select = (row: string, { figure, at, cents, where }: Row, by: string, from?: string) =>
	`select ${row}."organizationId" as organization, ${row}.currency as currency, ${figure} as figure, ${at} as at,
		${by} as records, ${by} * (${cents}) as cents ${from ? `from ${from}` : ''} where ${where}`

const insertion = 'insert into report_sums ("organizationId", currency, figure, at, part, records, cents)'
const addition = `on conflict ("organizationId", currency, figure, at, part)
	do update set records = report_sums.records + excluded.records, cents = report_sums.cents + excluded.cents`

/** In the order of the key, in which PostgreSQL locks. */
const summed = (rows: readonly string[], part: string) =>
	`${insertion} select organization, currency, figure, at, ${part}, sum(records), sum(cents) from (${rows.join(' union all ')}) as each
		group by organization, currency, figure, at having sum(records) <> 0 or sum(cents) <> 0
		order by organization, currency, figure, at ${addition};`

async function replaceTriggers(knex: Knex): Promise<void> {
	const quoted = columns.map((column) => `"${column}"`).join(', ')
	const isChanged = columns.map((column) => `new."${column}" is not old."${column}"`).join(' or ')
	const steps = [
		['insert', 'new', '1', ''],
		[`update of ${quoted}`, 'old', '-1', `(${isChanged}) and `],
		[`update of ${quoted}`, 'new', '1', `(${isChanged}) and `],
		['delete', 'old', '-1', ''],
	] as const
	for (const [event, row, by, when] of steps)
		for (const { name, figure, at, cents, where } of rowsOf(isOutstanding, '>')(row, true)) {
			const trigger = `invoices_${name}_${row}_${event.split(' ')[0]}`
			const values = `${row}."organizationId", ${row}.currency, ${figure}, ${at}, 0, ${by}, ${by} * (${cents})`
			await knex.raw(`drop trigger ${trigger}`)
			await knex.raw(
				`create trigger ${trigger} after ${event} on invoices when ${when}${where} begin ${insertion} values (${values}) ${addition}; end`,
			)
		}
}

function sumInvoices(): string {
	const rows = (row: string, by: string) =>
		[drafts(row), ...rowsOf(isOutstanding, '>')(row, false)].map((each) => select(row, each, by))
	return `create or replace function sum_invoices() returns trigger language plpgsql as $$ begin
		if tg_op = 'INSERT' then ${summed(rows('new', '1'), 'pg_backend_pid() % 4')}
		elsif tg_op = 'DELETE' then ${summed(rows('old', '-1'), 'pg_backend_pid() % 4')}
		else ${summed([...rows('old', '-1'), ...rows('new', '1')], 'pg_backend_pid() % 4')} end if;
		return null;
	end $$`
}
