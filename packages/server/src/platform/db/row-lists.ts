// Many rows in one go: as parameters of a change, and what is to be done to each. PostgreSQL takes all at once, since a statement that
// waits for the one before costs it a round trip; SQLite takes them one by one, which costs it less and leaves others a turn between.
import type { Knex } from 'knex'
import type { Db, Dialect, OfOrganization, Placeholders, Query, Rows } from './database.ts'

/** What a statement takes: on SQLite a row; on PostgreSQL the JSON of all of them. */
export type Part<Row> = Partial<Row> | Rows

/** `json` is JSON as text. */
type Type = 'text' | 'bigint' | 'json'

/** The columns of rows that are parameters. */
export class RowList<Row extends object> {
	readonly #types: readonly [name: string, type: Type][]

	constructor(types: Readonly<Record<keyof Row & string, Type>>) {
		this.#types = Object.entries(types)
	}

	/** The names of the columns, in the order of `table`. */
	get columns(): string[] {
		return this.#types.map(([name]) => name)
	}

	/** The rows of a part as a table `r`; a column that they do not have is null. */
	table(knex: Knex, part: Placeholders<Part<Row>>, dialect: Dialect): Knex.Raw {
		if (dialect === 'postgres') {
			const columns = this.#types.map(([name, type]) => `"${name}" ${type === 'json' ? 'text' : type}`)
			// Half as dear as `jsonb_to_recordset` for many columns.
			const rows = `json_to_recordset(?::json) as r(${columns.join(', ')})`
			const values = this.#types.map(([name, type]) => (type === 'json' ? `"${name}"::json` : `"${name}"`))
			const isPlain = this.#types.every(([, type]) => type !== 'json')
			return knex.raw(isPlain ? rows : `(select ${values.join(', ')} from ${rows}) as r`, [(part as { rows: Knex.Value }).rows])
		}
		const row = part as Record<string, Knex.Value>
		const columns = this.#types.map(([name]) => `${name in row ? '?' : 'null'} as "${name}"`)
		const values = this.#types.flatMap(([name]) => (name in row ? [row[name] as Knex.Value] : []))
		return knex.raw(`(select ${columns.join(', ')}) as r`, values)
	}

	/** Runs a change on all rows. */
	async run(db: Db, query: Query<Part<Row>, unknown>, rows: readonly Partial<Row>[]): Promise<void> {
		for (const part of partsOf(db, rows)) await db.run(query, part)
	}

	/** Runs a change on a row of an organization, and returns what it returns of it. Of changes side by side, all have one statement. */
	async one<Result extends OfOrganization>(
		db: Db,
		query: Query<Part<Row>, Result>,
		row: Row & OfOrganization,
	): Promise<Result | undefined> {
		if (db.shared?.together) return db.shared.together(query, row)
		return (await this.all(db, query, [row]))[0]
	}

	/** Runs a change on all rows, and returns what it returns of each. */
	async all<Result>(db: Db, query: Query<Part<Row>, Result>, rows: readonly Partial<Row>[]): Promise<Result[]> {
		const results: Result[] = []
		for (const part of partsOf(db, rows)) results.push(...(await db.all(query, part)))
		return results
	}
}

const partsOf = <Row>({ dialect }: Db, rows: readonly Partial<Row>[]): readonly Part<Row>[] =>
	dialect === 'sqlite' ? rows : rows.length === 0 ? [] : [{ rows: JSON.stringify(rows) }]

/** The most that is done at once: a thousand time entries would hold the event loop, and memory for as many rows. */
const together = 100

/** Rows in parts that a statement can take; `work` may not read what it wrote for the part before. */
export async function forEachPart<Row>(
	{ dialect }: Db,
	rows: readonly Row[],
	work: (part: readonly Row[]) => Promise<unknown>,
): Promise<void> {
	const size = dialect === 'sqlite' ? 1 : together
	for (let at = 0; at < rows.length; at += size) await work(rows.slice(at, at + size))
}

/** Does the same to each row, in their order: `work` may not read what it wrote for the one before. */
export const forEachRow = <Row>(db: Db, rows: readonly Row[], work: (row: Row) => Promise<unknown>): Promise<void> =>
	forEachPart(db, rows, (part) => Promise.all(part.map(work)))
