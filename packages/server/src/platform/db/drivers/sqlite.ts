// SQLite, with one connection that writes and one that reads. In WAL mode the reader sees the last commit: a read never waits
// for a transaction and never sees its uncommitted changes.
//
// Group commit: a commit is an fsync (synchronous=FULL, so nothing that a caller was answered is lost). The transactions that
// wait in one turn of the event loop share a commit, each under its own savepoint, and resolve after it. This doubles the
// creates per CPU second, compared with a commit for each request (docs/performance.md). What is left of them after a tenth of a second
// has a commit of its own, and organizations take turns: another's large changes delay a change by the commit under way and by one of them.
import { statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import Sqlite from 'better-sqlite3'
import { CommitListeners, type Database, OutcomeUnknown, type Transaction } from '../database.ts'
import { whenFree } from '../files/busy.ts'
import { Checkpoints } from '../files/checkpoints.ts'
import { isOfFile, Reads, rollBack, runner } from './sqlite-reads.ts'

export function openSqlite(file: string): Database {
	const writer = new Sqlite(file)
	writer.pragma('journal_mode = WAL')
	writer.pragma('synchronous = FULL')
	writer.pragma('foreign_keys = ON')
	// `insert or replace` then fires the triggers against deleting, as of the audit log.
	writer.pragma('recursive_triggers = ON')
	writer.pragma('busy_timeout = 0')
	// A large transaction under a savepoint would otherwise write its undo data to a file.
	writer.pragma('temp_store = MEMORY')
	// Half of better-sqlite3's default: some commits walk the whole cache (pcache1TruncateUnsafe), and the system has a cache too.
	writer.pragma('cache_size = -8000')
	// 64 MB of log, in case the checkpoint thread falls behind.
	writer.pragma('wal_autocheckpoint = 16000')
	// A log that was longer for a while is cut to as much when it begins anew, also while there is no quiet time for it.
	writer.pragma(`journal_size_limit = ${64 * 2 ** 20}`)
	const reader = new Sqlite(file, { readonly: true })
	// A quarter of better-sqlite3's default: reads cost the same, since the system has the pages too.
	reader.pragma('cache_size = -4000')
	const reads = new Reads(reader)
	const transactions = new Transactions(writer, () => reads.end())
	const checkpoints = new Checkpoints(writer)
	transactions.committed.add(() => checkpoints.noteCommit())
	return {
		...reads.db,
		transaction: (work, { durable = true, organizationId = '' } = {}) => transactions.add(work, durable, organizationId),
		async ready() {
			reads.ready()
			await transactions.ready()
		},
		onCommit: (listener) => transactions.committed.add(listener),
		async close() {
			await transactions.idle()
			await checkpoints.close()
			reads.end()
			reader.close()
			writer.close()
		},
	}
}

/** Returns what throws once the file at the path is another one, or none: what is written to the open one then ends with the process. */
function whileInPlace(file: string): () => void {
	const inodeOf = () => statSync(file, { throwIfNoEntry: false })?.ino
	const opened = inodeOf()
	return () => {
		if (inodeOf() === opened) return
		throw Object.assign(new Error(`${file} is no longer the database that was opened`), { code: 'SQLITE_READONLY_DBMOVED' })
	}
}

/** More than the largest request stores. */
const roomBytes = 4 * 2 ** 20

async function requireRoom(file: string): Promise<void> {
	try {
		await writeFile(file, Buffer.alloc(roomBytes))
	} catch (error) {
		const isFull = /^(ENOSPC|EDQUOT)$/.test((error as { code: string }).code)
		throw new Sqlite.SqliteError((error as Error).message, isFull ? 'SQLITE_FULL' : 'SQLITE_IOERR')
	} finally {
		await rm(file, { force: true })
	}
}

/**
 * Errors of a commit whose last frame is not in the log. After any other, such as a failed fsync, SQLite undoes the commit too,
 * but a start after a crash may find it whole in the log and restore it.
 */
const isUndone = /^SQLITE_(FULL|BUSY|CONSTRAINT|IOERR_WRITE)/

interface Job {
	readonly durable: boolean
	readonly organizationId: string
	work(tx: Transaction): Promise<unknown>
	resolve(value: unknown): void
	reject(reason: unknown): void
}

/** How long transactions hold the event loop before they leave a turn of it to reads. */
const turnMs = 20

/** After so long no further transaction joins a commit. */
const togetherMs = 100

/** The first of each organization, then the second of each, and so on. */
function inTurns(jobs: readonly Job[]): Job[] {
	const counts = new Map<string, number>()
	const turns = Map.groupBy(jobs, ({ organizationId }) => {
		const turn = counts.get(organizationId) ?? 0
		counts.set(organizationId, turn + 1)
		return turn
	})
	return [...turns.values()].flat()
}

class Transactions {
	readonly committed = new CommitListeners()
	readonly #connection: Sqlite.Database
	readonly #steps: Record<'begin' | 'commit' | 'savepoint' | 'release' | 'undo', Sqlite.Statement>
	readonly #tx: Transaction
	#isDurable = true
	/** Whether the last transaction could not be stored, as on a full disk, and no try has succeeded since. */
	#isBroken = false
	/** Runs again what failed last because of the file, as in `Reads`. */
	#failed: (() => unknown) | undefined
	#waiting: Job[] = []
	#running: Promise<void> | undefined
	#turnBegan = 0
	readonly #onStored: () => void
	readonly #requireInPlace: () => void

	/** `onStored` is called after each commit, before anybody is answered. */
	constructor(connection: Sqlite.Database, onStored: () => void) {
		this.#connection = connection
		this.#onStored = onStored
		this.#requireInPlace = whileInPlace(connection.name)
		this.#steps = {
			begin: connection.prepare('begin immediate'),
			commit: connection.prepare('commit'),
			savepoint: connection.prepare('savepoint part'),
			release: connection.prepare('release part'),
			undo: connection.prepare('rollback to part'),
		}
		const own = runner(connection, (again) => {
			this.#failed = again
		})
		this.#tx = {
			...own,
			run: async (query, params) => {
				const changes = await own.run(query, params)
				if (performance.now() - this.#turnBegan > turnMs) await this.#leaveATurn()
				return changes
			},
			attempt: (work) => this.#attempt(work),
			// All run here, one after the other, and each takes microseconds.
			once: (_, work) => work(),
		}
	}

	add<T>(work: (tx: Transaction) => Promise<T>, durable: boolean, organizationId: string): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			this.#waiting.push({ work, durable, organizationId, resolve: resolve as (value: unknown) => void, reject })
			this.#running ??= new Promise<void>((turn) => setImmediate(turn)).then(() => this.#drain())
		})
	}

	async idle(): Promise<void> {
		await this.#running
	}

	/**
	 * Rejects when nothing can be stored. Writes only to find out whether that is over: first a file beside the database, because
	 * the log of a database on a full disk may have room for a page or two, and then the page that every database has.
	 */
	async ready(): Promise<void> {
		this.#requireInPlace()
		if (this.#isBroken) {
			await requireRoom(`${this.#connection.name}-room`)
			await this.add(async () => this.#connection.pragma('user_version = 0'), true, '')
			this.#isBroken = false
		}
		const failed = this.#failed
		if (!failed) return
		this.#connection.pragma('shrink_memory')
		await this.add(() => this.#tryAndUndo(failed), true, '')
		if (this.#failed === failed) this.#failed = undefined
	}

	/** Throws only what the file is to blame for: the statement may have become wrong for another reason. */
	async #tryAndUndo(statement: () => unknown): Promise<void> {
		const tried = new Error('tried')
		const part = async () => {
			statement()
			throw tried
		}
		await this.#attempt(part).catch((error) => {
			if (isOfFile(error)) throw error
		})
	}

	async #drain(): Promise<void> {
		while (this.#waiting.length > 0) {
			const jobs = inTurns(this.#waiting)
			this.#waiting = []
			const count = await this.#commitTogether(jobs)
			this.#waiting.unshift(...jobs.slice(count))
		}
		this.#running = undefined
	}

	/** Lets the event loop do other work: reads have a connection of their own, and other transactions wait for this one. */
	async #leaveATurn(): Promise<void> {
		await new Promise<void>((turn) => setImmediate(turn))
		this.#turnBegan = performance.now()
	}

	/** How many of the jobs, from the first, have shared a commit and are answered. When none can begin, all are. */
	async #commitTogether(jobs: readonly Job[]): Promise<number> {
		const answers: (() => void)[] = []
		let count = jobs.length
		try {
			this.#syncWhen(jobs.some(({ durable }) => durable))
			rollBack(this.#connection)
			this.#requireInPlace()
			await whenFree(() => this.#steps.begin.run())
			const began = performance.now()
			this.#turnBegan = began
			count = 0
			for (const job of jobs) {
				if (performance.now() - began > togetherMs) break
				count++
				try {
					const value = await this.#attempt(() => job.work(this.#tx))
					answers.push(() => job.resolve(value))
				} catch (error) {
					// After an error of the file SQLite's commit fails as well, and leaves open what it stored.
					if (!this.#connection.inTransaction || isOfFile(error)) throw error
					answers.push(() => job.reject(error))
				}
			}
			this.#commit()
			this.#onStored()
		} catch (error) {
			// Such as a full disk: the whole batch is undone.
			rollBack(this.#connection)
			this.#isBroken = true
			for (const job of jobs.slice(0, count)) job.reject(error)
			return count
		}
		for (const answer of answers) answer()
		this.committed.notify()
		return count
	}

	#commit(): void {
		try {
			this.#steps.commit.run()
		} catch (error) {
			throw isUndone.test((error as { code: string }).code) ? error : new OutcomeUnknown(error)
		}
	}

	/** A durable commit also syncs the earlier commits in the log that did not wait for the disk. */
	#syncWhen(durable: boolean): void {
		if (durable === this.#isDurable) return
		this.#connection.pragma(`synchronous = ${durable ? 'FULL' : 'NORMAL'}`)
		this.#isDurable = durable
	}

	async #attempt<T>(work: () => Promise<T>): Promise<T> {
		this.#steps.savepoint.run()
		try {
			const value = await work()
			this.#steps.release.run()
			return value
		} catch (error) {
			if (this.#connection.inTransaction) this.#undoPart()
			throw error
		}
	}

	/** A part that cannot be undone by itself is undone with all that share its commit. */
	#undoPart(): void {
		try {
			this.#steps.undo.run()
			this.#steps.release.run()
		} catch {
			rollBack(this.#connection)
		}
	}
}
