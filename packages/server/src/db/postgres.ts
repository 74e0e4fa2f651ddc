// PostgreSQL: statements that each connection prepares once under a name, and a time limit on everything. Reads have connections
// of their own, so that none waits for a transaction that waits for a lock. Organizations share both kinds (shares.ts).
import { hash } from 'node:crypto'
import pg from 'pg'
import { Shares } from '../base/shares.ts'
import {
	CommitListeners,
	type Database,
	type Db,
	OutcomeUnknown,
	type Query,
	type SharedTransaction,
	type Transaction,
	type TransactionOptions,
	UniqueViolation,
	unavailability,
} from './database.ts'
import type { End } from './postgres/batches.ts'
import { Pools, type PostgresSettings, type Run, runOn } from './postgres/connections.ts'
import { hasTakenTooLong, isLostRace, isReadOnly, isRefused, isUndone, reasonOf, tries, Undone } from './postgres/errors.ts'
import { type Group, Groups } from './postgres/groups.ts'
import { Standby } from './postgres/standby.ts'
import { Statements } from './statements.ts'
import { lockFreeTime } from './write-context.ts'

// Cents and milliseconds are int8 and stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** The same for the same text alone: through a pooler that nobody told of, two processes would run each other's statements. */
const nameOf = (text: string) => hash('sha256', text, 'base64url')

interface Named {
	/** Under which a connection keeps its plan. */
	readonly name?: string
	readonly text: string
}

interface Listeners {
	readonly onError: (error: Error) => void
	/** Called when the standby stops to read, with the reason, and with none when it reads again. */
	readonly onStandby: (reason: string | undefined) => void
}

export function openPostgres(settings: PostgresSettings, { onError, onStandby }: Listeners): Database {
	const pools = new Pools(settings, onError)
	const patienceMs = settings.connectMs
	const reads = new Shares({ size: pools.readers, patienceMs })
	const writes = new Shares({ size: pools.writers, patienceMs })
	const committed = new CommitListeners()
	const keeps = settings.pooler === 'none'
	const statements = new Statements<Named>('postgres', (text, stays) => ({ ...(keeps && stays && { name: nameOf(text) }), text }))
	const read = readsOf(pools, reads)
	const standbyPools = settings.readUrl === '' ? undefined : new Pools({ ...settings, url: settings.readUrl }, onError)
	const standby =
		standbyPools &&
		new Standby({
			primary: read,
			standby: readsOf(standbyPools, new Shares({ size: standbyPools.readers, patienceMs })),
			changed: onStandby,
		})
	// Says at once what is wrong with it.
	standby?.prove()
	const transact = transactionsOf(pools, () => committed.notify())
	const groups = new Groups<Transaction>({
		patienceMs,
		enter: (organizationId, work, patienceMs) => writes.run(organizationId, work, patienceMs),
		transact: (work) =>
			transact(true, async (run, notes) => {
				const group = groupOn(run, statements, notes, pools.lockMs)
				await work(group)
				group.end()
			}),
		together: (jobs, failed) =>
			transact(true, async (run, notes) => {
				run(`set local lock_timeout = ${groupLockMs}`).catch(() => {})
				const db = runner(run, statements)
				const free = await Promise.all(jobs.map(({ organizationId }) => lockFreeTime(db, organizationId)))
				const works = jobs.map(({ work }, index) => (free[index] ? work : undefined))
				return sideBySide(run, statements, notes, works, failed)
			}),
	})
	const alone = <T>(work: (tx: Transaction) => Promise<T>, durable: boolean) =>
		again(() => transact(durable, (run, notes) => inside(run, statements, notes, work)))
	return {
		...runner(read, statements),
		...(standby && { standby: runner(standby.run, statements) }),
		transaction: (work, { durable = true, organizationId = '', isShort }: TransactionOptions = {}) =>
			durable && organizationId !== ''
				? groups.run(organizationId, work, isShort)
				: writes.run(organizationId, () => alone(work, durable)),
		onCommit: (listener) => committed.add(listener),
		connections: () =>
			pools.use().map((use, index) => ({ ...use, waiting: use.waiting + ([reads, writes][index]?.waiting ?? 0) })),
		ready: () => pools.ready(),
		async close() {
			standby?.end()
			await Promise.all([pools.end(), standbyPools?.end()])
		},
	}
}

/**
 * A read belongs to the organization that it names. One that names none looks up a key or a client link, or is the server's own: it is
 * short, and waits for a connection alone.
 */
const readsOf =
	(pools: Pools, shares: Shares): Run =>
	(query, organizationId) =>
		new Promise((resolve, reject) => {
			if (organizationId === undefined) return pools.read(query, resolve, reject)
			const leave = () => shares.leave(organizationId)
			shares.enter(organizationId, () => pools.read(query, resolve, reject, leave), reject)
		})

function runner(run: Run, statements: Statements<Named>): Db {
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

/** What the changes of a transaction leave for those that come behind them. */
interface Notes {
	/** What ran `once`, as a promise, and what a change remembers, by its name. Not what was undone. */
	known: Map<string, unknown>
	/** Statements for which no change waits any more. */
	sent: Promise<unknown>[]
	/** Told when what runs `once` begins, and when it ends. */
	waits?: (isWaiting: boolean) => void
}

/** What failed of the statements for which no change waits; to be asked when all have their answers. */
const failureOf = async ({ sent }: Notes): Promise<Error | undefined> =>
	(await Promise.allSettled(sent)).find((end) => end.status === 'rejected')?.reason

/** Whether PostgreSQL has said that a statement failed: then nothing of its transaction is stored. */
const isAnswered = (error: unknown) => error instanceof UniqueViolation || error instanceof pg.DatabaseError

/** Whatever a change makes of it: behind a statement that failed, PostgreSQL refuses those that it waits for. */
const rootOf = (error: unknown, late: Error | undefined) => (late ? new Undone(lateFailure, { cause: late }) : error)

const lateFailure = 'a statement had failed for which no change waited'

type Transact = <T>(durable: boolean, work: (run: Run, notes: Notes) => Promise<T>) => Promise<T>

/** Transactions that commit when their work ends, and roll back when it fails. */
const transactionsOf =
	(pools: Pools, onCommit: () => void): Transact =>
	async (durable, work) => {
		const client = await pools.connect()
		const run = runOn(client, pools.answerMs)
		const notes: Notes = { known: new Map(), sent: [] }
		let committing = false
		let broken: unknown
		try {
			const began = run(durable ? 'begin' : 'begin; set local synchronous_commit = off')
			began.catch(() => {})
			const value = await work(after(began, run), notes)
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
async function again<T>(transaction: () => Promise<T>): Promise<T> {
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
async function inside<T>(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	work: (tx: Transaction) => Promise<T>,
	isFirst = true,
): Promise<T> {
	let isOver = false
	let failure: unknown
	const own: Run = async (query) => {
		if (isOver) throw new Error('a statement came after the end of its transaction')
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
		return await work(transactionOf(own, statements, notes, isFirst))
	} finally {
		isOver = true
	}
}

function transactionOf(run: Run, statements: Statements<Named>, notes: Notes, isFirst: boolean): Transaction {
	return {
		...runner(run, statements),
		shared: {
			recall: <T>(name: string) => (isFirst ? undefined : (notes.known.get(name) as T | undefined)),
			remember: (name, value) => notes.known.set(name, value),
			sent(statements) {
				statements.catch(() => {})
				notes.sent.push(statements)
			},
		},
		async attempt(work) {
			const before = { known: new Map(notes.known), sent: notes.sent }
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

/** Runs changes that share a fate, each of another organization: none sees what another does. Without work, a change does not begin. */
async function sideBySide(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	works: readonly (((tx: Transaction) => Promise<unknown>) | undefined)[],
	failed: (index: number, error: unknown) => void,
): Promise<End[]> {
	const failures: unknown[] = []
	const runPart = async (work: (tx: Transaction) => Promise<unknown>, index: number): Promise<End> => {
		let hasWritten = false
		const fail = (error: unknown) => {
			if (isRefused(error)) return
			failures.push(error)
			failed(index, error)
		}
		const own: Run = (query) => {
			hasWritten ||= !/^select /.test((query as Named).text)
			return run(query)
		}
		const watched = (tx: Transaction) =>
			work({
				...tx,
				shared: {
					...(tx.shared as SharedTransaction),
					sent(statements) {
						statements.catch(fail)
						notes.sent.push(statements)
					},
				},
				// There is no savepoint for a part: if it has written, nothing is stored, whatever its change makes of its failure.
				attempt: (part) => {
					const hadWritten = hasWritten
					hasWritten = false
					return part()
						.catch((error) => {
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
			return { value: await inside(own, statements, notes, watched) }
		} catch (error) {
			if (hasWritten || !isOwn(error)) fail(error)
			return { error }
		}
	}
	const ends = await Promise.all(works.map((work, index) => (work ? runPart(work, index) : ('not begun' as const))))
	if (failures.length === 0) return ends
	const [failure] = failures
	throw failsAlone(failure) ? new Undone('a change beside it failed', { cause: failure }) : failure
}

/** Whether an error is what a change says of itself, and not one of the database. */
const isOwn = (error: unknown) => !isAnswered(error) && unavailability(error) === undefined

/** Whether a failure is that of one change, and not of the connection that it shares with others. */
const failsAlone = (error: unknown) => isUndone(error) || hasTakenTooLong(error) || unavailability(error) === undefined

/** How long a change waits for a lock while those before it in its group wait for it. */
const groupLockMs = 50

/** A savepoint goes with the first statement of its change, together with the release of the one before, and takes no trip. */
function groupOn(run: Run, statements: Statements<Named>, notes: Notes, lockMs: number): Group<Transaction> & { end(): void } {
	let count = 0
	let before = `set local lock_timeout = ${groupLockMs}`
	return {
		/** Deferred triggers take locks with the commit, which waits for them as any other. */
		end() {
			if (count > 0) run(`set local lock_timeout = ${lockMs}`).catch(() => {})
		},
		first(work, waits) {
			notes.waits = waits
			return inside(run, statements, notes, work)
		},
		async next(work) {
			// Names of their own: if a change hides that a query failed, its release fails, and the next must not undo it in silence.
			const name = `change${++count}`
			const saved = run(`${before}; savepoint ${name}`)
			saved.catch(() => {})
			before = `release ${name}`
			const own: Notes = { known: new Map(notes.known), sent: [saved] }
			try {
				const value = await inside(run, statements, own, work, false)
				notes.known = own.known
				notes.sent.push(...own.sent)
				return { value }
			} catch (error) {
				await run(`rollback to ${name}`).catch((failure) => {
					throw isRefused(failure) ? new Undone('a change of its group hid that a query had failed') : failure
				})
				return { error: rootOf(error, await failureOf(own)) }
			}
		},
	}
}
