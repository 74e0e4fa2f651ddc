// Trims and composes names that an older version has stored as they were written, as the contract does with new ones.
import type { Logger } from 'pino'
import type { ResourceKind } from '../../generated/contract.ts'
import { bySystem } from '../../platform/base/origin.ts'
import { sortName } from '../../platform/base/search-words.ts'
import { trimmed } from '../../platform/contract/formats.ts'
import { difference, recordChange } from '../../platform/db/audit-log.ts'
import { type Database, madeOnce, query, type Transaction, UniqueViolation } from '../../platform/db/database.ts'
import { takeChangeTime } from '../../platform/db/write-context.ts'
import type { JobHandler } from '../../platform/work/jobs.ts'
import { type RowKey, walk } from '../../platform/work/walk.ts'

/** By these, records are told apart and found. */
const columns = {
	companies: ['name'],
	contacts: ['name'],
	deals: ['name'],
	tax_rates: ['name', 'label'],
	time_entries: ['userId', 'taskId', 'taskName', 'deliverableId', 'deliverableName'],
	invoices: ['invoiceNumber', 'paymentReference', 'paymentMethod'],
} as const

type Table = keyof typeof columns

const kinds = {
	companies: 'company',
	contacts: 'contact',
	deals: 'deal',
	tax_rates: 'tax_rate',
	time_entries: 'time_entry',
	invoices: 'invoice',
} as const satisfies Record<Table, ResourceKind>

const tables = Object.keys(columns) as Table[]

/** Rows that a part looks at. */
const batch = 200

type Row = RowKey & Readonly<Record<string, unknown>>

/** Only what these change: an invoice that was issued keeps its document, and a timer that runs its user. */
const mayChange: Readonly<Record<string, readonly [column: string, why: string]>> = {
	invoices: [`status = 'draft'`, 'it is issued'],
	time_entries: ['"endedAt" is not null', 'it runs'],
}

const nextRows = madeOnce((table: Table) =>
	query<RowKey, Row>((knex, { organizationId, id }) =>
		knex(table)
			.whereRaw('("organizationId", id) > (?, ?)', [organizationId, id])
			.orderBy(['organizationId', 'id'])
			.limit(batch, { skipBinding: true })
			.select('organizationId', 'id', 'version', ...columns[table]),
	),
)

/** None where the record was changed since it was read, or may not be. */
const update = madeOnce((table: Table) =>
	query<Row & { version: number; next: number }>((knex, { organizationId, id, version, next, ...values }) =>
		knex(table)
			.where({ organizationId, id, version })
			.whereRaw(mayChange[table]?.[0] ?? 'true')
			.update({ ...values, version: next }),
	),
)

/** What changes in a row. A text that would be empty is left to a person. */
function changesOf(table: Table, row: Row): Record<string, string> {
	const changes: Record<string, string> = {}
	for (const column of columns[table]) {
		const before = row[column]
		const after = typeof before === 'string' ? trimmed(before) : ''
		if (after !== '' && after !== before) changes[column] = after
	}
	return changes.name !== undefined && table === 'companies' ? { ...changes, sortName: sortName(changes.name) } : changes
}

/** Changes a row, and returns why it is left as it is. */
async function change(
	tx: Transaction,
	table: Table,
	row: Row,
	changes: Record<string, string>,
	now: number,
): Promise<string | undefined> {
	const { organizationId, id } = row
	const version = Number(row.version)
	const origin = await takeChangeTime(tx, bySystem(now, 'jobs.trimNames'), organizationId)
	const values = { organizationId, id, version, next: version + 1, updatedAt: origin.now, ...changes }
	try {
		const changed = await tx.attempt(() => tx.run(update(table), values))
		if (changed === 0) return mayChange[table]?.[1] ?? 'it was changed meanwhile'
	} catch (error) {
		if (error instanceof UniqueViolation) return 'another has that text'
		throw error
	}
	const { sortName, ...texts } = changes
	const what = { organizationId, resource: kinds[table], resourceId: id, action: 'updated' } as const
	await recordChange({ db: tx, origin }, { ...what, ...difference(row, texts) })
	return undefined
}

/** Walks all records once; the log says what becomes of each text. */
export const trimNames = (db: Database, log: Logger): JobHandler =>
	walk(
		tables,
		(table, after) => db.all(nextRows(table), after),
		async (job, table, rows, checkpoint) => {
			const odd = rows
				.map((row) => [row, changesOf(table, row)] as const)
				.filter(([, changes]) => Object.keys(changes).length > 0)
			const kept = await job.part(
				async (tx) => {
					const all: (string | undefined)[] = []
					for (const [row, changes] of odd) all.push(await change(tx, table, row, changes, job.now))
					return all
				},
				{ checkpoint },
			)
			for (const [index, [{ organizationId, id }, changes]] of odd.entries()) {
				const why = kept[index]
				const what = { organizationId, table, id, columns: Object.keys(changes) }
				if (why === undefined) log.info(what, 'white space around a name was taken away, or its letters composed')
				else log.warn({ ...what, why }, 'a name keeps its white space, or its decomposed letters')
			}
		},
	)
