import type { Knex } from 'knex'

/**
 * Sums of open invoices, drafts and payments by currency and time, kept as these are written: a report over a million invoices would hold
 * everybody up. A time is a calendar month of UTC, and besides a quarter of an hour, since days begin at a whole one in every time zone: the
 * organization may change its zone. A date that is a day (00:00 UTC) is that day in every zone. An upgrade beside an older server, restores
 * and SQL by hand are counted, too.
 *
 * | figure   | of                                | at                                          |
 * |----------|-----------------------------------|---------------------------------------------|
 * | `draft`  | drafts                            | 0                                           |
 * | `open`   | sent invoices that owe something  | the month they are due; `never` without one |
 * | `due`    | those due on a day                | the day                                     |
 * | `due_at` | those due at an instant           | its quarter of an hour                      |
 * | `paid`   | payments that are not reversed    | the month they were paid                    |
 * | `paid_at`| those paid at an instant          | its quarter of an hour                      |
 *
 * On PostgreSQL the sum is of several parts and taken at the commit, as the last locks of a transaction.
 */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	await knex.raw(`create table report_sums (
		"organizationId" text not null,
		currency text not null,
		figure text not null,
		at bigint not null,
		part integer not null,
		records bigint not null,
		cents bigint not null,
		primary key ("organizationId", currency, figure, at, part)
	) ${sqlite ? 'without rowid' : 'with (fillfactor = 50)'}`)
	// The triggers first: PostgreSQL then lets nobody write invoices and payments until the commit.
	for (const [table, source] of Object.entries(sources))
		for (const statement of sqlite ? sqliteTriggers(table, source) : postgresTriggers(table, source)) await knex.raw(statement)
	for (const [table, source] of Object.entries(sources)) {
		const rows = source.rows('r', sqlite).map((row) => select('r', row, '1', `${table} as r`))
		await knex.raw(summed(rows, '0'))
	}
}

const dayMs = 86_400_000
const quarterMs = 900_000
/** Without a due date; an invoice below 0 is never overdue either. */
const never = Number.MAX_SAFE_INTEGER

/** What a row of a table adds to. */
interface Row {
	/** Names its triggers. */
	readonly name: string
	readonly figure: string
	readonly at: string
	readonly cents: string
	readonly where: string
}

interface Source {
	readonly rows: (row: string, sqlite: boolean) => Row[]
	/** The columns that the sums are made of. */
	readonly columns: readonly string[]
}

const monthOf = (time: string, sqlite: boolean) =>
	sqlite
		? `strftime('%s', ${time} / 1000, 'unixepoch', 'start of month') * 1000`
		: `cast(extract(epoch from date_trunc('month', timestamp 'epoch' + ${time} * interval '1 millisecond')) as bigint) * 1000`
const quarterOf = (time: string) => `${time} - ${time} % ${quarterMs}`

const sources: Record<string, Source> = {
	invoices: {
		columns: ['status', 'currency', 'totalCents', 'amountPaidCents', 'amountCreditedCents', 'dueDate'],
		rows(row, sqlite) {
			const [total, due] = [`${row}."totalCents"`, `${row}."dueDate"`]
			const settled = `${row}."amountPaidCents" + ${row}."amountCreditedCents"`
			const cents = `${total} - (${settled})`
			const isCovered = `((${total} > 0 and ${settled} >= ${total}) or (${total} < 0 and ${settled} <= ${total}))`
			const isOpen = `${row}.status in ('sent', 'overdue') and not ${isCovered}`
			const isDated = `${due} is not null and ${total} >= 0`
			return [
				{ name: 'drafts', figure: "'draft'", at: '0', cents, where: `${row}.status = 'draft'` },
				{
					name: 'open',
					figure: "'open'",
					at: `case when ${isDated} then ${monthOf(due, sqlite)} else ${never} end`,
					cents,
					where: isOpen,
				},
				{
					name: 'due',
					figure: `case ${due} % ${dayMs} when 0 then 'due' else 'due_at' end`,
					at: quarterOf(due),
					cents,
					where: `${isOpen} and ${isDated}`,
				},
			]
		},
	},
	payments: {
		columns: ['status', 'currency', 'amountCents', 'paidAt'],
		rows(row, sqlite) {
			const [cents, paidAt, isPaid] = [`${row}."amountCents"`, `${row}."paidAt"`, `${row}.status = 'succeeded'`]
			return [
				{ name: 'paid', figure: "'paid'", at: monthOf(paidAt, sqlite), cents, where: isPaid },
				{ name: 'paid_at', figure: "'paid_at'", at: quarterOf(paidAt), cents, where: `${isPaid} and ${paidAt} % ${dayMs} <> 0` },
			]
		},
	},
}

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

const isChanged = (columns: readonly string[], differs: string) =>
	columns.map((column) => `new."${column}" ${differs} old."${column}"`).join(' or ')
const quoted = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ')

/** One for each figure: SQLite is done sooner with a condition of a trigger than with one of its statements. */
function sqliteTriggers(table: string, { rows, columns }: Source): string[] {
	const add = (event: string, row: string, by: string, changed?: string) =>
		rows(row, true).map(({ name, figure, at, cents, where }) => {
			const values = `${row}."organizationId", ${row}.currency, ${figure}, ${at}, 0, ${by}, ${by} * (${cents})`
			return `create trigger ${table}_${name}_${row}_${event.split(' ')[0]} after ${event} on ${table}
				when ${changed ? `(${changed}) and ` : ''}${where} begin ${insertion} values (${values}) ${addition}; end`
		})
	const update = `update of ${quoted(columns)}`
	const changed = isChanged(columns, 'is not')
	return [
		...add('insert', 'new', '1'),
		...add(update, 'old', '-1', changed),
		...add(update, 'new', '1', changed),
		...add('delete', 'old', '-1'),
	]
}

function postgresTriggers(table: string, { rows, columns }: Source): string[] {
	const of = (row: string, by: string) => rows(row, false).map((each) => select(row, each, by))
	const trigger = (name: string, of: string, when = '') =>
		`create constraint trigger ${table}_sums_${name} after ${of} on ${table} deferrable initially deferred for each row ${when}
			execute function sum_${table}()`
	return [
		`create function sum_${table}() returns trigger language plpgsql as $$ begin
			if tg_op = 'INSERT' then ${summed(of('new', '1'), 'pg_backend_pid() % 4')}
			elsif tg_op = 'DELETE' then ${summed(of('old', '-1'), 'pg_backend_pid() % 4')}
			else ${summed([...of('old', '-1'), ...of('new', '1')], 'pg_backend_pid() % 4')} end if;
			return null;
		end $$`,
		trigger('insert', 'insert'),
		trigger('update', `update of ${quoted(columns)}`, `when (${isChanged(columns, 'is distinct from')})`),
		trigger('delete', 'delete'),
	]
}
