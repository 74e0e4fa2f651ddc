// The one door to the database. A store states a query once, with Knex; here it is compiled once for each shape of its
// parameters and then runs as a prepared statement: building SQL on every call costs several times the query itself.
import knexFactory, { type Knex } from 'knex'

export type Dialect = 'sqlite' | 'postgres'

/** Runs queries. Inside a transaction always use the transaction: the outer database does not see its changes. */
export interface Db {
	readonly dialect: Dialect
	all<P extends object, Row>(query: Query<P, Row>, params: P): Promise<Row[]>
	get<P extends object, Row>(query: Query<P, Row>, params: P): Promise<Row | undefined>
	/** The column `json` of each row, the only one: for lists, without an object around each text. */
	column<P extends object>(query: Query<P, { json: string }>, params: P): Promise<string[]>
	/** Runs a change and returns how many rows it changed. */
	run<P extends object>(query: Query<P, unknown>, params: P): Promise<number>
}

export interface Transaction extends Db {
	/** Runs a part that may fail without failing the whole: what it wrote is undone and its error thrown. */
	attempt<T>(work: () => Promise<T>): Promise<T>
	/** Takes a lock for the rest of the transaction; false when another transaction holds it. */
	tryLock(name: string): Promise<boolean>
}

export interface TransactionOptions {
	/**
	 * False does not wait for the disk: a power cut, but no end of this process, may undo the last such commits together with
	 * all that came after them. For work that is then done again; never for what an answer or an event tells of.
	 */
	readonly durable?: boolean
}

export interface Database extends Db {
	/**
	 * Runs `work` in a transaction that commits when it returns and rolls back when it throws. On SQLite nothing but
	 * queries may be awaited inside: all writers wait for it.
	 */
	transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
	/** Calls the listener after every commit of this process, until what it returns is called. */
	onCommit(listener: () => void): () => void
	close(): Promise<void>
}

/** Whom a commit is told to. */
export class CommitListeners {
	readonly #listeners = new Set<() => void>()

	add(listener: () => void): () => void {
		this.#listeners.add(listener)
		return () => this.#listeners.delete(listener)
	}

	tell(): void {
		for (const listener of this.#listeners) listener()
	}
}

/** A unique index refused a row. `constraint` is the index (PostgreSQL) or its columns (SQLite). */
export class UniqueViolation extends Error {
	readonly constraint: string

	constructor(constraint: string, cause: unknown) {
		super(`unique constraint ${constraint}`, { cause })
		this.constraint = constraint
	}
}

/** Whether an error means that the database cannot be reached, or has no room, rather than that a query is wrong. */
export function isUnavailable(error: unknown): boolean {
	const { code, message = '' } = error as { code?: unknown; message?: string }
	// pg gives a connection that was lost in use no code.
	return unavailable.has(String(code)) || message.startsWith('Connection terminated')
}

/** Of the network, PostgreSQL (class 57: shutting down, 53: too many connections, disk full) and SQLite. */
const unavailable = new Set(
	'ECONNREFUSED ECONNRESET EPIPE ENOTFOUND ETIMEDOUT 57P01 57P02 57P03 53100 53200 53300 SQLITE_BUSY SQLITE_FULL SQLITE_IOERR'.split(
		' ',
	),
)

/** What stands in a query for each parameter; a parameter that is undefined in a call is absent here. */
export type Placeholders<P> = { [Name in keyof P]: Knex.Value }

type Build<P> = (knex: Knex, params: Placeholders<P>, dialect: Dialect) => Knex.QueryBuilder | Knex.Raw

export interface Query<P extends object, Row> {
	readonly build: Build<P>
	readonly row?: Row
}

/**
 * A query over named parameters. It is built again for each set of parameters that are present, so an optional filter
 * is `if (params.status)` in the builder, and an insert or update takes its columns from the call.
 */
export function query<P extends object, Row = unknown>(build: Build<P>): Query<P, Row> {
	return { build }
}

export interface Compiled<Statement> {
	readonly statement: Statement
	values(params: object): unknown[]
}

/** Compiles queries for one database; `prepare` turns SQL into what the driver runs. */
export class Statements<Statement> {
	readonly #dialect: Dialect
	readonly #knex: Knex
	readonly #prepare: (sql: string) => Statement
	readonly #compiled = new Map<Query<never, never>, Map<string, Compiled<Statement>>>()

	constructor(dialect: Dialect, prepare: (sql: string) => Statement) {
		this.#dialect = dialect
		this.#knex = knexFactory({ client: dialect === 'sqlite' ? 'better-sqlite3' : 'pg', useNullAsDefault: true })
		this.#prepare = prepare
	}

	compile<P extends object, Row>(query: Query<P, Row>, params: P): Compiled<Statement> {
		let shapes = this.#compiled.get(query as never)
		if (!shapes) {
			shapes = new Map()
			this.#compiled.set(query as never, shapes)
		}
		let shape = ''
		for (const name in params) if (params[name] !== undefined) shape += `${name},`
		let compiled = shapes.get(shape)
		if (!compiled) {
			compiled = this.#build(query, shape.split(',').slice(0, -1))
			shapes.set(shape, compiled)
		}
		return compiled
	}

	#build<P extends object, Row>(query: Query<P, Row>, names: string[]): Compiled<Statement> {
		const placeholders = Object.fromEntries(names.map((name, index) => [name, new Placeholder(name, index)]))
		const built = query.build(this.#knex, placeholders as unknown as Placeholders<P>, this.#dialect)
		const { sql, bindings } = built.toSQL().toNative()
		const sources = bindings.map((binding) => source(binding, names))
		const convert = this.#dialect === 'sqlite' ? sqliteValue : postgresValue
		return {
			// SQLite plans a statement again whenever the value bound to a bare LIMIT changes: 58 µs instead of 5 for a row.
			statement: this.#prepare(this.#dialect === 'sqlite' ? sql.replaceAll('limit ?', 'limit +?') : sql),
			values: (params) => sources.map((from) => convert('name' in from ? params[from.name as never] : from.value)),
		}
	}
}

/** First of a range of numbers that no query contains: limit() and offset() accept integers only. */
const reserved = 2 ** 50

class Placeholder {
	readonly name: string
	readonly #index: number

	constructor(name: string, index: number) {
		this.name = name
		this.#index = index
	}

	toString(): string {
		return String(reserved + this.#index)
	}
}

function source(binding: unknown, names: string[]): { name: string } | { value: unknown } {
	if (binding instanceof Placeholder) return binding
	if (typeof binding === 'number' && binding >= reserved) return { name: names[binding - reserved] as string }
	return { value: binding }
}

function sqliteValue(value: unknown): unknown {
	if (typeof value === 'boolean') return value ? 1 : 0
	return postgresValue(value)
}

/** JSON goes in as text: the driver would turn an array into a PostgreSQL array. */
function postgresValue(value: unknown): unknown {
	return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
