// The connection that reads a SQLite database, what both connections run statements with, and what becomes of a file that fails.
import Sqlite from 'better-sqlite3'
import { type Db, type Query, UniqueViolation } from '../database.ts'
import { Statements } from '../statements.ts'

/** What SQLite says when it cannot read its file or write to it: also `SQLITE_CORRUPT` where the disk gave no bytes. */
export const isOfFile = (error: unknown): boolean =>
	/^SQLITE_(IOERR|CORRUPT|NOTADB|CANTOPEN)/.test(String((error as { code?: unknown }).code))

/** `failed` is called with a statement for which the file failed. */
export function runner(connection: Sqlite.Database, failed: (again: () => unknown) => void): Db {
	const noted = (error: unknown, again: () => unknown): unknown => {
		if (isOfFile(error)) failed(again)
		return error
	}
	const statements = new Statements<Sqlite.Statement>('sqlite', (sql) => connection.prepare(sql))
	return {
		dialect: 'sqlite',
		async all<P extends object, Row>(query: Query<P, Row>, params: P) {
			const { statement, values } = statements.compile(query, params)
			try {
				return statement.all(values(params)) as Row[]
			} catch (error) {
				throw noted(error, () => statement.all(values(params)))
			}
		},
		async get<P extends object, Row>(query: Query<P, Row>, params: P) {
			const { statement, values } = statements.compile(query, params)
			try {
				return statement.get(values(params)) as Row | undefined
			} catch (error) {
				throw noted(error, () => statement.get(values(params)))
			}
		},
		async column<P extends object>(query: Query<P, { json: string }>, params: P) {
			const { statement, values } = statements.compile(query, params)
			try {
				return statement.pluck().all(values(params)) as string[]
			} catch (error) {
				throw noted(error, () => statement.all(values(params)))
			}
		},
		async run<P extends object>(query: Query<P, unknown>, params: P) {
			const { statement, values } = statements.compile(query, params)
			try {
				return statement.run(values(params)).changes
			} catch (error) {
				if (isUnique(error)) throw new UniqueViolation(error.message.replace(/^.*failed: /, ''), error)
				throw noted(error, () => statement.run(values(params)))
			}
		},
	}
}

/**
 * Reads of one turn of the event loop share a read transaction: one of its own takes locks of the log for each statement, which was 4 % of a
 * GET. It ends with the turn, and before a commit is answered, so that whoever knows of a commit reads it.
 */
export class Reads {
	readonly db: Db
	readonly #connection: Sqlite.Database
	readonly #end: Sqlite.Statement
	/** Runs again what failed last because of the file; undefined when nothing has since it succeeded. */
	#failed: (() => unknown) | undefined

	constructor(connection: Sqlite.Database) {
		this.#connection = connection
		this.#end = connection.prepare('end')
		const begin = connection.prepare('begin')
		const open = () => {
			if (connection.inTransaction) return
			begin.run()
			setImmediate(() => this.end())
		}
		const { all, get, column, ...others } = runner(connection, (again) => {
			this.#failed = again
		})
		this.db = {
			...others,
			all(query, params) {
				open()
				return all(query, params)
			},
			get(query, params) {
				open()
				return get(query, params)
			},
			column(query, params) {
				open()
				return column(query, params)
			},
		}
	}

	end(): void {
		// A failed read may have ended it.
		if (!this.#connection.inTransaction) return
		try {
			this.#end.run()
		} catch {
			// SQLite says once more that a read failed, of which its caller knows.
			rollBack(this.#connection)
		}
	}

	/** Throws while the file cannot be read, or not what could not be read before. */
	ready(): void {
		// What was read wrong is in the cache.
		if (this.#failed) this.#connection.pragma('shrink_memory')
		this.#connection.prepare('select 1 from sqlite_schema').get()
		this.#failed?.()
		this.#failed = undefined
	}
}

/** Ends a transaction whatever SQLite makes of it; if it goes on, the next one tries again. */
export function rollBack(connection: Sqlite.Database): void {
	try {
		if (connection.inTransaction) connection.exec('rollback')
	} catch {
		// What failed before this has been told.
	}
}

function isUnique(error: unknown): error is Error {
	return error instanceof Sqlite.SqliteError && /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(error.code)
}
