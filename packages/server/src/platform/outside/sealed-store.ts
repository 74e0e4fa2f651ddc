// Reads and writes what is sealed, column by column, in pages by the primary key.
import { existsSync } from 'node:fs'
import { ConfigError } from '../base/errors.ts'
import { type Db, type Query, query } from '../db/database.ts'
import { keyFile } from '../db/files/data-folder.ts'
import type { LinkRow } from './client-token.ts'
import type { SecretSettings } from './encryption-keys.ts'
import { isLink, type SealedColumn, sealedColumns } from './sealed-columns.ts'
import type { RowOf } from './secrets.ts'

const sealedTables = [...new Set(Object.values(sealedColumns).map(({ table }) => table))]

const anySealed = query<object, { found: unknown }>((knex) =>
	knex.select(knex.raw(`(${sealedTables.map((table) => `exists (select 1 from ${table})`).join(' or ')}) as "found"`)),
)

/** Throws a ConfigError when the key is missing that the database was written with; several processes need the same. */
export async function requireEncryptionKey(db: Db, { ENCRYPTION_KEYS, DATA_DIR }: SecretSettings): Promise<void> {
	const file = keyFile(DATA_DIR)
	if (ENCRYPTION_KEYS || existsSync(file)) return
	if (!(await db.get(anySealed, {}))?.found) return
	throw new ConfigError(
		`${file} is missing, and the database holds webhook secrets, client links or kept answers that were made with it. Put it back from a backup, or set ENCRYPTION_KEYS. To go on without them: openssl rand -base64 32 > ${file}`,
	)
}

/** A row of a table with sealed values. */
export interface SealedRow extends RowOf<string> {
	/** The first eight characters of the value, which name its key; empty when the row has no value. */
	readonly head: string
	/** The value; empty also when it is held by a key that was skipped. */
	readonly value: string
}

interface Queries {
	readonly page: Query<Record<string, string>, SealedRow>
	readonly write: Query<Record<string, string>, unknown>
}

/** Values that are read, and written in one transaction: requests beside them wait for about two milliseconds. */
const pageSize = 100

const linkColumns = ['nonce', 'tokenHash'] satisfies (keyof LinkRow)[]

function queriesOf(column: SealedColumn): Queries {
	const { table, key, column: name } = column
	return {
		page: query((knex, { skipped, ...after }, dialect) => {
			const indexIn = dialect === 'sqlite' ? 'instr' : 'strpos'
			const value = `case when ${indexIn}(?, coalesce(substr(??, 1, 9), '')) > 0 then '' else coalesce(??, '') end as "value"`
			const rows = knex(table)
				.select([...key, ...(isLink(column) ? linkColumns : [])])
				.select(knex.raw(`coalesce(substr(??, 1, 8), '') as "head"`, [name]), knex.raw(value, [skipped as never, name, name]))
				.orderBy(key.map((part) => ({ column: part })))
				.limit(pageSize, { skipBinding: true })
			if (!key.every((part) => part in after)) return rows
			const marks = (mark: string) => key.map(() => mark).join(', ')
			return rows.whereRaw(`(${marks('??')}) > (${marks('?')})`, [...key, ...key.map((part) => after[part] as never)])
		}),
		write: query((knex, { sealed, before, ...where }) =>
			isLink(column)
				? knex(table)
						.where({ ...where, tokenHash: before })
						.update({ [name]: sealed, nonce: '' })
				: knex(table)
						.where({ ...where, [name]: before })
						.update({ [name]: sealed }),
		),
	}
}

const queries = new Map(Object.values<SealedColumn>(sealedColumns).map((column) => [column, queriesOf(column)]))

const of = (column: SealedColumn) => queries.get(column) as Queries

const keyOf = ({ key }: SealedColumn, row: RowOf<string>): Record<string, string> =>
	Object.fromEntries(key.map((part) => [part, row[part] as string]))

/** The next rows after `after`. Values of the keys `skipped` stay in the database. */
export const readPage = (db: Db, column: SealedColumn, after: RowOf<string> | null, skipped: readonly string[]) =>
	db.all(of(column).page, {
		skipped: skipped.map((id) => `${id}.`).join(''),
		...(after && keyOf(column, after)),
	})

/** Where the next page begins. */
export const placeAfter = (column: SealedColumn, rows: readonly SealedRow[]): RowOf<string> | undefined => {
	const last = rows.length < pageSize ? undefined : rows.at(-1)
	return last && keyOf(column, last)
}

/** Writes a value that was sealed again, unless it was changed since it was read. */
export const writeSealed = (db: Db, column: SealedColumn, row: SealedRow, sealed: string) =>
	db.run(of(column).write, { ...keyOf(column, row), before: isLink(column) ? (row.tokenHash as string) : row.value, sealed })
