// The interfaces of the database: what runs queries, and how a store states a query. statements.ts compiles each query once.
import type { Knex } from 'knex'
import type { ConnectionUse } from './postgres/connections.ts'

export type Dialect = 'sqlite' | 'postgres'

/** Runs queries. Inside a transaction use the transaction alone: the outer database does not see its changes. */
export interface Db {
	readonly dialect: Dialect
	all<P extends object, Row>(query: Query<P, Row>, params: P): Promise<Row[]>
	get<P extends object, Row>(query: Query<P, Row>, params: P): Promise<Row | undefined>
	/** Returns the only column, `json`, of each row. For lists: it makes no object around each text. */
	column<P extends object>(query: Query<P, { json: string }>, params: P): Promise<string[]>
	/** Runs a change and returns how many rows it changed. */
	run<P extends object>(query: Query<P, unknown>, params: P): Promise<number>
	/** In a transaction on PostgreSQL, which several changes may share, one after the other. */
	readonly shared?: SharedTransaction
}

export interface SharedTransaction {
	/** Whether all begin again by themselves when something fails for which no change waits: not in the first, nor in one that has begun again. */
	readonly beginsAgain: boolean
	/** What a change before this one has left; undefined in the first, and in one that begins again. */
	recall<T>(name: string): T | undefined
	/** Leaves what holds until the transaction ends, such as the value of a row that it has locked, unless this change is undone. */
	remember(name: string, value: unknown): void
	/**
	 * Waits no longer for statements that are sent, so that the next change sends its own behind them: PostgreSQL and this process then
	 * work at the same time. If one fails, nothing of the transaction is stored, and each of its changes begins again by itself.
	 */
	sent(statements: Promise<unknown>): void
	/**
	 * Leaves a row for a statement that takes those of all changes: it runs before a statement that names one of its tables, and at the latest
	 * before the commit. If it fails, it is as with `sent`.
	 */
	later(statement: RowsStatement, row: object): void
	/**
	 * Runs a statement for the rows of all changes that ask for it now, each of another organization, and returns what it returns of this
	 * one's row; it does not look at rows that wait (`later`). Absent where changes run one after the other. If it fails, it is as with `sent`.
	 */
	together?<Row extends OfOrganization>(query: Query<Rows, Row>, row: OfOrganization): Promise<Row | undefined>
}

export interface OfOrganization {
	readonly organizationId: string
}

/** A statement on PostgreSQL that takes rows of several changes. There is one object for each. */
export interface RowsStatement {
	/** The table that it writes, and those that refer to it. */
	readonly tables: readonly string[]
	readonly query: Query<Rows, unknown>
}

/** Rows as the parameter of a statement on PostgreSQL: JSON, a list of objects. */
export interface Rows {
	readonly rows: string
}

/** Waits for statements whose answer nothing depends on, where the transaction does not do so. All have to be sent by now. */
export async function sent({ shared }: Db, statements: Promise<unknown>): Promise<void> {
	if (shared) shared.sent(statements)
	else await statements
}

export interface Transaction extends Db {
	/** Runs a part that may fail while the transaction goes on: undoes what the part wrote, and throws its error. */
	attempt<T>(work: () => Promise<T>): Promise<T>
	/** Runs what holds until the transaction ends, such as a lock, and for the others that share the transaction gives what it gave. */
	once<T>(name: string, work: () => Promise<T>): Promise<T>
}

export interface TransactionOptions {
	/**
	 * False: the commit does not wait for the disk. A power cut (not a crash of this process) may undo the last of these commits,
	 * together with every commit after them. Only for work that is then done again, never for a change that an answer or an event
	 * has reported.
	 */
	readonly durable?: boolean | undefined
	/**
	 * The organization that the work is for; absent for the server's own, which counts as one more. On PostgreSQL each may have half of the
	 * connections that the others leave; on SQLite they take turns.
	 */
	readonly organizationId?: string | undefined
	/**
	 * The work writes few rows, whatever its caller asks for. On PostgreSQL it may then share a transaction with that of other
	 * organizations, which wait for it.
	 */
	readonly isShort?: boolean | undefined
}

export interface Database extends Db {
	/**
	 * Runs `work` in a transaction that commits when it returns and rolls back when it throws. On SQLite nothing but
	 * queries may be awaited inside: all writers wait for it.
	 */
	transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
	/** Calls the listener after every commit of this process. Returns a function that removes the listener. */
	onCommit(listener: () => void): () => void
	/** The connections of this process now; absent where there are no more than two. */
	connections?(): readonly ConnectionUse[]
	/** For reads of many rows, where there is a standby: sees all that was stored when a read began, as the database itself does. */
	readonly standby?: Db
	/** Throws unless the database answers; on PostgreSQL also while it takes no changes. */
	ready(): Promise<void>
	close(): Promise<void>
}

/** The listeners of `Database.onCommit`. */
export class CommitListeners {
	readonly #listeners = new Set<() => void>()

	add(listener: () => void): () => void {
		this.#listeners.add(listener)
		return () => this.#listeners.delete(listener)
	}

	notify(): void {
		for (const listener of this.#listeners) {
			try {
				listener()
			} catch (error) {
				// What is committed stays so, and the next transactions wait for this.
				process.emitWarning(error as Error)
			}
		}
	}
}

/** A row violates a unique index. `constraint` is the index (PostgreSQL) or its columns (SQLite). */
export class UniqueViolation extends Error {
	readonly constraint: string

	constructor(constraint: string, cause: unknown) {
		super(`unique constraint ${constraint}`, { cause })
		this.constraint = constraint
	}
}

/** The commit failed in a way that leaves open whether the transaction is stored. */
export class OutcomeUnknown extends Error {
	constructor(cause: unknown) {
		super('whether a transaction is stored is unknown', { cause })
	}
}

/** Another version of Remit has migrated the database: a newer one, or an older one and this is not the moment to follow it. */
export class OtherVersionError extends Error {}

/** Why the database cannot be used now, without a full stop; undefined when the error says anything else, such as a wrong query. */
export function unavailability(error: unknown): string | undefined {
	const { code, message } = error as { code?: unknown; message?: unknown }
	// Some errors of pg have no code, and PgBouncer has one for all of its own.
	const texts = [String(code), String(message)]
	return reasons.find(([pattern]) => texts.some((text) => pattern.test(text)))?.[1]
}

/** By the codes of SQLite, of PostgreSQL (SQLSTATE, whose first two characters are its class) and of the network. */
const reasons: readonly (readonly [RegExp, string])[] = [
	[/^(SQLITE_FULL|53100$)/, 'The disk of the database is full'],
	[/^SQLITE_READONLY_DBMOVED/, 'The file of the database was moved or deleted'],
	[/^(SQLITE_READONLY|25006$)/, 'The database can be read only at the moment'],
	[/^(SQLITE_BUSY|(55P03|40...)$)/, 'Another change held for too long what this one needs'],
	[/^(57014$|Query read timeout)/, 'The database took too long'],
	[/^(SQLITE_IOERR|SQLITE_CANTOPEN|58...$)/, 'The database cannot use its disk'],
	[/^(SQLITE_(CORRUPT|NOTADB)|XX00[12]$)/, 'The file of the database is damaged, or its disk cannot be read'],
	[
		/^(26000|42P05)$/,
		'The database is reached through a pooler that keeps no prepared statements, and DATABASE_POOLER does not say so',
	],
	// Of pg's pool: none is free, or none can be opened.
	[/^timeout exceeded when trying to connect/, 'The server cannot reach its database, or it has too much to do at the moment'],
	[/^timeout exceeded when waiting for the changes before/, 'The changes before this one took too long'],
	[/^(53...$|timeout exceeded|query_wait_timeout|no more connections allowed)/, 'The database has too much to do at the moment'],
	// Such as a database that takes no connections (55000), a time limit of a transaction (25P04) or an error inside of PostgreSQL (XX000).
	[/^(55...|25P0[34]|72...|F0...|XX...)$/, 'The database cannot do this at the moment'],
	[/^(42501|3F000)$/, 'The role of the server may not use its database'],
	[
		/^(The server does not support SSL|ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|HOSTNAME_MISMATCH$)/,
		'The server and its database do not agree on TLS',
	],
	[
		/^(08...|28...|3D...|57...|ECONN[A-Z]+|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(HOST|NET)(UNREACH|DOWN))$/,
		'The server cannot reach its database',
	],
	[
		/^(Connection terminated|timeout expired|Client (was closed|has encountered)|Cannot use a pool)/,
		'The server cannot reach its database',
	],
]

/** Placeholders for the parameters of a query; a parameter that a call leaves undefined has none. */
export type Placeholders<P> = { [Name in keyof P]: Knex.Value }

/** Types a placeholder as a number, because Knex takes only numbers for `limit` and `offset` (see statements.ts). */
export const asNumber = (placeholder: Knex.Value) => placeholder as number

type Build<P> = (knex: Knex, params: Placeholders<P>, dialect: Dialect) => Knex.QueryBuilder | Knex.Raw

export interface Query<P extends object, Row> {
	readonly build: Build<P>
	readonly row?: Row
}

/**
 * A query with named parameters. It is built once for each set of parameters that are present, so an optional filter is
 * `if (params.status)` in the builder, and an insert or update takes its columns from the call.
 */
export function query<P extends object, Row = unknown>(build: Build<P>): Query<P, Row> {
	return { build }
}

/** Makes the queries that belong to a key once, and then gives them again. For a bounded number of keys: it keeps all. */
export function madeOnce<Key, Made>(make: (key: Key) => Made, nameOf: (key: Key) => unknown = (key) => key): (key: Key) => Made {
	const all = new Map<unknown, Made>()
	return (key) => {
		const name = nameOf(key)
		const made = all.get(name) ?? make(key)
		all.set(name, made)
		return made
	}
}
