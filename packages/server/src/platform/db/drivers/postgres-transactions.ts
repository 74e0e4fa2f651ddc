// Transactions on PostgreSQL. Several changes may share one (postgres-groups.ts, postgres-batches.ts). Statements on whose answer nothing
// depends are not waited for, and those of the same kind are run as one for all changes (notes.ts).
import pg from 'pg'
import { type Db, OutcomeUnknown, type Query, type Transaction, UniqueViolation } from '../database.ts'
import { type Pools, type Run, runOn } from '../postgres/connections.ts'
import { isLostRace, isReadOnly, isRefused, isUndone, reasonOf, tries, Undone } from '../postgres/errors.ts'
import type { Statements } from '../statements.ts'
import { failureOf, isAnswered, lateFailure, leave, type Notes, rootOf, runLater, send } from './notes.ts'

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
