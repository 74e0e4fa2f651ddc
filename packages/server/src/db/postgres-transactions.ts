// Transactions on PostgreSQL: of one change, of several of an organization one after the other (postgres/groups.ts), and of several organizations
// side by side (postgres/batches.ts). Statements on whose answer nothing depends are not waited for, and those of the same kind are
// run as one for all changes.
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import {
	type Db,
	type OfOrganization,
	OutcomeUnknown,
	type Query,
	type Rows,
	type RowsStatement,
	type SharedTransaction,
	type Transaction,
	UniqueViolation,
	unavailability,
} from './database.ts'
import type { End } from './postgres/batches.ts'
import { type Pools, type Run, runOn } from './postgres/connections.ts'
import {
	hasTakenTooLong,
	isAboutRowOf,
	isLostRace,
	isReadOnly,
	isRefused,
	isUndone,
	reasonOf,
	tries,
	Undone,
} from './postgres/errors.ts'
import type { Group } from './postgres/groups.ts'
import type { Statements } from './statements.ts'
import { lastTimeOf, lockFreeTimes } from './write-context.ts'

export interface Named {
	/** Under which a connection keeps its plan. */
	readonly name?: string
	readonly text: string
}

export function runner(run: Run, statements: Statements<Named>): Db {
	async function execute<P extends object, Row>(query: Query<P, Row>, params: P): Promise<pg.QueryResult> {
		const { statement, values } = statements.compile(query, params)
		try {
			return await run({ ...statement, values: values(params) }, (params as { organizationId?: string }).organizationId)
		} catch (error) {
			if (error instanceof pg.DatabaseError && error.code === '23505') throw new UniqueViolation(error.constraint ?? '', error)
			throw error
		}
	}
	return {
		dialect: 'postgres',
		all: async (query, params) => (await execute(query, params)).rows,
		get: async (query, params) => (await execute(query, params)).rows[0],
		column: async (query, params) => (await execute(query, params)).rows.map((row) => row.json),
		run: async (query, params) => (await execute(query, params)).rowCount ?? 0,
	}
}

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
interface Notes {
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
function leave(db: Db, notes: Notes, rows: readonly NewRow[]): void {
	for (const { statement, row } of rows) {
		const size = (notes.later.at(-1)?.size ?? 0) + row.length
		notes.later.push({ statement, row, size })
		if (size > mostWaiting) runLater(db, notes)
	}
}

/** Runs the statements for the rows that wait. */
function runLater(db: Db, notes: Notes): void {
	const kinds = Map.groupBy(notes.later, ({ statement }) => statement)
	notes.later = []
	for (const [{ query }, rows] of kinds) send(notes, db.run(query, { rows: `[${rows.map(({ row }) => row).join(',')}]` }))
}

function send(notes: Notes, statements: Promise<unknown>): void {
	statements.catch((error) => notes.failed?.(error))
	notes.sent.push(statements)
}

/** What failed of the statements for which no change waits; to be asked when all have their answers. */
const failureOf = async ({ sent }: Notes): Promise<Error | undefined> =>
	(await Promise.allSettled(sent)).find((end) => end.status === 'rejected')?.reason

/** Whether PostgreSQL has said that a statement failed: then nothing of its transaction is stored. */
const isAnswered = (error: unknown) => error instanceof UniqueViolation || error instanceof pg.DatabaseError

/** Whatever a change makes of it: behind a statement that failed, PostgreSQL refuses those that it waits for. */
const rootOf = (error: unknown, late: Error | undefined) => (late ? new Undone(lateFailure, { cause: late }) : error)

const sharedFailure = 'a statement had failed that it shared with others'
const lateFailure = 'a statement had failed for which no change waited'

export type Transact = <T>(durable: boolean, work: (run: Run, notes: Notes) => Promise<T>) => Promise<T>

/** Transactions that commit when their work ends, and roll back when it fails. */
export const transactionsOf =
	(pools: Pools, statements: Statements<Named>, onCommit: () => void): Transact =>
	async (durable, work) => {
		const client = await pools.connect()
		const run = runOn(client, pools.answerMs)
		const notes: Notes = { known: new Map(), later: [], sent: [] }
		let committing = false
		let broken: unknown
		try {
			const began = run(durable ? 'begin' : 'begin; set local synchronous_commit = off')
			began.catch(() => {})
			const value = await work(after(began, run), notes)
			runLater(runner(run, statements), notes)
			await began
			committing = true
			const { command } = await run('commit')
			if (command !== 'COMMIT') throw new Undone(lateFailure)
			onCommit()
			const late = await failureOf(notes)
			// It came too late to be stored with the rest.
			if (late) throw late
			return value
		} catch (error) {
			await run('rollback').catch((failure) => {
				broken = failure
			})
			const late = await failureOf(notes)
			const reason = late ?? error
			if (isReadOnly(reason)) broken = reason
			pools.noteFailure(reason)
			if (committing && !isUndone(error) && !isAnswered(late)) throw new OutcomeUnknown(error)
			throw rootOf(error, late)
		} finally {
			client.release(broken !== undefined)
		}
	}

/** Runs a transaction again that has lost to another. */
export async function again<T>(transaction: () => Promise<T>): Promise<T> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await transaction()
		} catch (error) {
			const reason = reasonOf(error)
			if (attempt === tries || !isLostRace(reason)) throw reason
		}
	}
}

/** Sends queries behind one that has no answer yet, whose failure is theirs: they share its round trip. */
const after =
	(first: Promise<unknown>, run: Run): Run =>
	async (query) => {
		const [, result] = await Promise.all([first, run(query)])
		return result
	}

/**
 * Runs work in a transaction. A statement that comes after its end would be stored by itself, or with the next change of a group. Behind
 * a statement that failed, PostgreSQL refuses those that were sent with it; whoever waits for one of these hears what failed.
 */
export async function inside<T>(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	work: (tx: Transaction) => Promise<T>,
	isFirst = true,
): Promise<T> {
	let isOver = false
	let failure: unknown
	const requireOpen = () => {
		if (isOver) throw new Error('a statement came after the end of its transaction')
	}
	const own: Run = async (query) => {
		requireOpen()
		try {
			const result = await run(query)
			failure = undefined
			return result
		} catch (error) {
			if (!isRefused(error)) failure = error
			throw failure ?? error
		}
	}
	try {
		return await work(transactionOf(own, statements, notes, requireOpen, isFirst))
	} finally {
		isOver = true
	}
}

function transactionOf(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	requireOpen: () => void,
	isFirst: boolean,
): Transaction {
	const db = runner(run, statements)
	const asking: Run = (query, organizationId) => {
		const { text } = query as Named
		const statements = new Set(notes.later.map(({ statement }) => statement))
		if ([...statements].some(({ tables }) => tables.some((table) => text.includes(table)))) runLater(db, notes)
		return run(query, organizationId)
	}
	return {
		...runner(asking, statements),
		shared: {
			beginsAgain: !isFirst,
			recall: <T>(name: string) => (isFirst ? undefined : (notes.known.get(name) as T | undefined)),
			remember: (name, value) => notes.known.set(name, value),
			sent: (statements) => send(notes, statements),
			later(statement, values) {
				requireOpen()
				leave(db, notes, [{ statement, row: JSON.stringify(values) }])
			},
		},
		async attempt(work) {
			const before = { known: new Map(notes.known), later: [...notes.later], sent: notes.sent }
			notes.sent = []
			// Goes with the first statement of the work.
			const saved = run('savepoint part')
			saved.catch(() => {})
			try {
				const value = await work()
				await saved
				await Promise.all(notes.sent)
				await run('release part')
				return value
			} catch (error) {
				notes.known = before.known
				notes.later = before.later
				await run('rollback to part; release part')
				throw rootOf(error, await failureOf(notes))
			} finally {
				notes.sent = before.sent
			}
		},
		once<T>(name: string, work: () => Promise<T>) {
			const known = notes.known.get(name) as Promise<T> | undefined
			if (known) return known
			notes.waits?.(true)
			const value = work()
			notes.known.set(name, value)
			const ended = () => notes.waits?.(false)
			value.then(ended, ended)
			return value
		},
	}
}

/**
 * Runs changes that share a fate, each of another organization: none sees what another does. One does not begin whose organization's turn another
 * transaction has.
 */
export async function sideBySide(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	jobs: readonly { readonly organizationId: string; work(tx: Transaction): Promise<unknown> }[],
	failed: (index: number, error: unknown) => void,
): Promise<End[]> {
	run(`set local lock_timeout = ${groupLockMs}`).catch(() => {})
	const db = runner(run, statements)
	const organizationIds = jobs.map(({ organizationId }) => organizationId)
	const lastTimes = await lockFreeTimes(db, organizationIds)
	// Of the rows that all of them leave, it is the one that the error is about.
	notes.failed = (error) => {
		const index = organizationIds.findIndex((id) => isAboutRowOf(error, id))
		if (index >= 0) failed(index, error)
	}
	const together = askedTogether(db)
	const failures: unknown[] = []
	const runPart = async ({ organizationId, work }: (typeof jobs)[number], index: number): Promise<End> => {
		const lastTime = lastTimes.get(organizationId)
		if (lastTime === undefined) return 'not begun'
		let hasWritten = false
		const fail = (error: unknown) => {
			if (isRefused(error) || error instanceof Undone) return
			failures.push(error)
			failed(index, error)
		}
		const own: Run = (query) => {
			hasWritten ||= !/^select /.test((query as Named).text)
			return run(query)
		}
		const known = new Map<string, unknown>([[lastTimeOf(organizationId), lastTime]])
		const part: Notes = { known, later: [], sent: notes.sent, failed: fail }
		const watched = (tx: Transaction) =>
			work({
				...tx,
				shared: {
					...(tx.shared as SharedTransaction),
					together(query, row) {
						hasWritten = true
						return together(query, row).catch((error) => {
							failures.push(error)
							throw new Undone(sharedFailure, { cause: error })
						})
					},
				},
				// There is no savepoint for a part: if it has written, nothing is stored, whatever its change makes of its failure.
				attempt: (attempted) => {
					const hadWritten = hasWritten
					const later = [...part.later]
					hasWritten = false
					return attempted()
						.catch((error) => {
							part.later = later
							if (hasWritten || !isOwn(error)) fail(error)
							throw error
						})
						.finally(() => {
							hasWritten ||= hadWritten
						})
				},
				// What holds until the end of the transaction may stay there whatever becomes of the change.
				once: (name, work) => {
					const hadWritten = hasWritten
					const value = tx.once(name, work)
					hasWritten = hadWritten
					return value
				},
			})
		try {
			const value = await inside(own, statements, part, watched, false)
			leave(db, notes, part.later)
			return { value }
		} catch (error) {
			if (hasWritten || !isOwn(error)) fail(error)
			return { error }
		}
	}
	const ends = await Promise.all(jobs.map(runPart))
	if (failures.length === 0) return ends
	const [failure] = failures
	throw failsAlone(failure) ? new Undone('a change beside it failed', { cause: failure }) : failure
}

/** Asks for rows of several organizations with one statement, which is sent when all that can ask at the same time have done so. */
function askedTogether(db: Db): NonNullable<SharedTransaction['together']> {
	const asked = new Map<
		Query<Rows, OfOrganization>,
		{ readonly rows: OfOrganization[]; readonly answers: Promise<OfOrganization[]> }
	>()
	const ask = <Row extends OfOrganization>(query: Query<Rows, Row>) => {
		const rows: OfOrganization[] = []
		const answers = nextTurn().then(() => {
			asked.delete(query)
			return db.all(query, { rows: JSON.stringify(rows) })
		})
		asked.set(query, { rows, answers })
		return { rows, answers }
	}
	return async <Row extends OfOrganization>(query: Query<Rows, Row>, row: OfOrganization) => {
		const { rows, answers } = asked.get(query) ?? ask(query)
		rows.push(row)
		return (await answers).find(({ organizationId }) => organizationId === row.organizationId) as Row | undefined
	}
}

/** Whether an error is what a change says of itself, and not one of the database. */
const isOwn = (error: unknown) => !isAnswered(error) && unavailability(error) === undefined

/** Whether a failure is that of one change, and not of the connection that it shares with others. */
const failsAlone = (error: unknown) => isUndone(error) || hasTakenTooLong(error) || unavailability(error) === undefined

/** How long a change waits for a lock while those before it in its group wait for it. */
const groupLockMs = 50

/**
 * A savepoint goes with the first statement of its change, together with the release of the one before, and takes no trip. A change that runs
 * none has none.
 */
export function groupOn(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	lockMs: number,
): Group<Transaction> & { end(): void } {
	let count = 0
	let before = `set local lock_timeout = ${groupLockMs}`
	return {
		/** Deferred triggers take locks with the commit, which waits for them as any other. */
		end() {
			runLater(runner(run, statements), notes)
			if (count > 0) run(`set local lock_timeout = ${lockMs}`).catch(() => {})
		},
		first(work, waits) {
			notes.waits = waits
			return inside(run, statements, notes, work)
		},
		async next(work) {
			let saved: Promise<unknown> | undefined
			let name = ''
			const own: Notes = { known: new Map(notes.known), later: [...notes.later], sent: [] }
			const saving: Run = (query, organizationId) => {
				if (!saved) {
					// Names of their own: if a change hides that a query failed, its release fails, and the next must not undo it in silence.
					name = `change${++count}`
					saved = run(`${before}; savepoint ${name}`)
					send(own, saved)
					before = `release ${name}`
				}
				return run(query, organizationId)
			}
			try {
				const value = await inside(saving, statements, own, work, false)
				notes.known = own.known
				notes.later = own.later
				notes.sent.push(...own.sent)
				return { value }
			} catch (error) {
				if (saved)
					await run(`rollback to ${name}`).catch((failure) => {
						throw isRefused(failure) ? new Undone('a change of its group hid that a query had failed') : failure
					})
				return { error: rootOf(error, await failureOf(own)) }
			}
		},
	}
}
