// The one door to the database: what runs queries, and how a store states one. statements.ts compiles it once.
import type { Knex } from 'knex'

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

/** What stands for a number: Knex takes numbers alone for `limit` and `offset`, and writes a placeholder as one. */
export const asNumber = (placeholder: Knex.Value) => placeholder as number

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
