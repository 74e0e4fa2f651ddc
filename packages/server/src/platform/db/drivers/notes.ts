// What the changes of a PostgreSQL transaction leave for those that come behind them: what they know, rows that wait for a statement
// that takes those of all, and statements for which no change waits.
import pg from 'pg'
import { type Db, type RowsStatement, UniqueViolation } from '../database.ts'
import { Undone } from '../postgres/errors.ts'

/** A row that waits for the statement that takes all of its kind. */
interface WaitingRow {
	readonly statement: RowsStatement
	/** As JSON. */
	readonly row: string
	/** Characters of this one and of those before it. */
	readonly size: number
}

type NewRow = Pick<WaitingRow, 'statement' | 'row'>

/** What the changes of a transaction leave for those that come behind them. */
export interface Notes {
	/** What ran `once`, as a promise, and what a change remembers, by its name. Not what was undone. */
	known: Map<string, unknown>
	/** In the order in which they came. Not those of what was undone. */
	later: WaitingRow[]
	/** Statements for which no change waits any more. */
	sent: Promise<unknown>[]
	/** Told of each of these that fails. */
	failed?: (error: unknown) => void
	/** Told when what runs `once` begins, and when it ends. */
	waits?: (isWaiting: boolean) => void
}

/** Characters of rows that wait at most: they are kept in memory, and a statement takes them as one value. */
const mostWaiting = 1_000_000

/** Has rows wait, or runs their statements when there are too many. */
export function leave(db: Db, notes: Notes, rows: readonly NewRow[]): void {
	for (const { statement, row } of rows) {
		const size = (notes.later.at(-1)?.size ?? 0) + row.length
		notes.later.push({ statement, row, size })
		if (size > mostWaiting) runLater(db, notes)
	}
}

/** Runs the statements for the rows that wait. */
export function runLater(db: Db, notes: Notes): void {
	const kinds = Map.groupBy(notes.later, ({ statement }) => statement)
	notes.later = []
	for (const [{ query }, rows] of kinds) send(notes, db.run(query, { rows: `[${rows.map(({ row }) => row).join(',')}]` }))
}

export function send(notes: Notes, statements: Promise<unknown>): void {
	statements.catch((error) => notes.failed?.(error))
	notes.sent.push(statements)
}

/** What failed of the statements for which no change waits; to be asked when all have their answers. */
export const failureOf = async ({ sent }: Notes): Promise<Error | undefined> =>
	(await Promise.allSettled(sent)).find((end) => end.status === 'rejected')?.reason

/** Whether PostgreSQL has said that a statement failed: then nothing of its transaction is stored. */
export const isAnswered = (error: unknown) => error instanceof UniqueViolation || error instanceof pg.DatabaseError

/** Whatever a change makes of it: behind a statement that failed, PostgreSQL refuses those that it waits for. */
export const rootOf = (error: unknown, late: Error | undefined) => (late ? new Undone(lateFailure, { cause: late }) : error)

export const lateFailure = 'a statement had failed for which no change waited'
