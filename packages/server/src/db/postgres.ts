// PostgreSQL: statements that each connection prepares once under a name, and a time limit on everything. Reads have connections
// of their own, so that none waits for a transaction that waits for a lock. Organizations share both kinds (shares.ts).
import type { Socket } from 'node:net'
import pg from 'pg'
import { Shares } from '../base/shares.ts'
import { within } from './busy.ts'
import {
	CommitListeners,
	type ConnectionUse,
	type Database,
	type Db,
	OutcomeUnknown,
	type Query,
	type Transaction,
	type TransactionOptions,
	UniqueViolation,
} from './database.ts'
import { Statements } from './statements.ts'

// Cents and milliseconds are int8 and stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Attempts for a transaction that loses to another (deadlock, serialization failure). */
const tries = 5

/** How much longer this process waits for an answer than PostgreSQL lets the query run: beyond that the connection is dead. */
const answerMarginMs = 1_000
/** How long `ready` waits for the answer. */
const readyMs = 2_000
/** The system asks a silent peer after this time whether it is there, and gives it up some ten seconds later. */
const keepAliveMs = 10_000
/**
 * How long a lock is waited for, as a share of how long a query may take. A read waits only for a lock on a whole table, and all that
 * time other reads do without its connection.
 */
const patience = { reads: 1 / 8, writes: 1 / 2 }
/** The shortest time between two replacements of all connections. */
const renewalMs = 1_000

export interface PostgresSettings {
	readonly url: string
	/** The connections of this process: half of them only read. */
	readonly connections: number
	/** How long to wait until PostgreSQL accepts a connection, or until one is free. */
	readonly connectMs: number
	/** How long a query may take, and a pause in a transaction. A lock is waited for half as long, by a read for an eighth. */
	readonly queryMs: number
}

interface Named {
	/** Under which a connection keeps its plan. */
	readonly name?: string
	readonly text: string
}

/** Runs a query; `organizationId` is the organization that the query names. */
type Run = (query: string | pg.QueryConfig, organizationId?: string) => Promise<pg.QueryResult>

export function openPostgres(settings: PostgresSettings, onError: (error: Error) => void): Database {
	const pools = new Pools(settings, onError)
	const { readers, writers } = pools
	const patienceMs = settings.connectMs
	const reads = new Shares({ size: readers, patienceMs })
	const writes = new Shares({ size: writers, patienceMs })
	const committed = new CommitListeners()
	let prepared = 0
	const statements = new Statements<Named>('postgres', (text, stays) => ({ ...(stays && { name: `s${++prepared}` }), text }))
	/**
	 * A read belongs to the organization that it names. One that names none looks up a key or a client link, or is the server's own:
	 * it is short, and waits for a connection alone.
	 */
	const read: Run = (query, organizationId) =>
		new Promise((resolve, reject) => {
			if (organizationId === undefined) return pools.read(query, resolve, reject)
			const leave = () => reads.leave(organizationId)
			reads.enter(organizationId, () => pools.read(query, resolve, reject, leave), reject)
		})
	async function transaction<T>(work: (tx: Transaction) => Promise<T>, durable: boolean): Promise<T> {
		for (let attempt = 1; ; attempt++) {
			try {
				const value = await transact(pools, statements, work, durable)
				committed.notify()
				return value
			} catch (error) {
				if (attempt === tries || !isLostRace(error)) throw error
			}
		}
	}
	return {
		...runner(read, statements),
		transaction: (work, { durable = true, organizationId = '' }: TransactionOptions = {}) =>
			writes.run(organizationId, () => transaction(work, durable)),
		onCommit: (listener) => committed.add(listener),
		connections: () =>
			pools.use().map((use, index) => ({ ...use, waiting: use.waiting + ([reads, writes][index]?.waiting ?? 0) })),
		ready: () => pools.ready(),
		close: () => pools.end(),
	}
}

class Pools {
	/** The number of connections for reads. */
	readonly readers: number
	/** The number of connections for transactions. */
	readonly writers: number
	readonly #settings: PostgresSettings
	readonly #onError: (error: Error) => void
	#reads: pg.Pool
	#writes: pg.Pool
	/** One of its own: reads that wait for a lock may have all others. */
	#probe: pg.Pool
	#renewedAt = performance.now()

	constructor(settings: PostgresSettings, onError: (error: Error) => void) {
		this.#settings = settings
		this.#onError = onError
		this.readers = Math.max(1, Math.floor(settings.connections / 2))
		this.writers = Math.max(1, settings.connections - this.readers)
		this.#reads = this.#open(this.readers, patience.reads)
		this.#writes = this.#open(this.writers)
		this.#probe = this.#open(1)
	}

	/** Takes callbacks, so that `leave` begins the next read before the answer to this one is made. */
	read(
		query: string | pg.QueryConfig,
		resolve: (result: pg.QueryResult) => void,
		reject: (error: Error) => void,
		leave?: () => void,
	): void {
		const fail = (error: Error) => {
			this.noteFailure(error)
			reject(error)
		}
		this.#reads.connect((unconnected, client, release) => {
			if (!client) {
				leave?.()
				return fail(unconnected as Error)
			}
			ask(client, query, this.answerMs, (error, result) => {
				release(error ?? undefined)
				leave?.()
				if (error) fail(error)
				else resolve(result)
			})
		})
	}

	/** How long to wait for an answer. */
	get answerMs(): number {
		return this.#settings.queryMs + answerMarginMs
	}

	/** Of reads, then of writes. */
	use(): ConnectionUse[] {
		const of = (use: ConnectionUse['use'], { totalCount, idleCount: idle, waitingCount: waiting }: pg.Pool) => ({
			use,
			busy: totalCount - idle,
			idle,
			waiting,
		})
		return [of('reads', this.#reads), of('writes', this.#writes)]
	}

	connect(): Promise<pg.PoolClient> {
		return this.#writes.connect()
	}

	/** Throws unless the database answers and takes changes. */
	async ready(): Promise<void> {
		const query = { text: 'show transaction_read_only', query_timeout: readyMs }
		// The wait for a connection counts too.
		const { rows } = await within(readyMs, this.#probe.query(query))
		if (rows[0].transaction_read_only === 'off') return
		const error = Object.assign(new Error('the database can be read only'), { code: readOnly })
		this.noteFailure(error)
		throw error
	}

	/**
	 * Replaces all connections, if the error says that they lead nowhere or, after a failover, to a server that is no longer the
	 * primary: each would fail by itself, after its own time limit. Those in use close after their use.
	 */
	noteFailure(error: unknown): void {
		if (!isSilent(error) && !isReadOnly(error)) return
		const now = performance.now()
		if (now < this.#renewedAt + renewalMs) return
		this.#renewedAt = now
		const old = [this.#reads, this.#writes, this.#probe]
		this.#reads = this.#open(this.readers, patience.reads)
		this.#writes = this.#open(this.writers)
		this.#probe = this.#open(1)
		for (const pool of old) void pool.end()
	}

	async end(): Promise<void> {
		await Promise.all([this.#reads.end(), this.#writes.end(), this.#probe.end()])
	}

	#open(max: number, share = patience.writes): pg.Pool {
		const { url, connectMs, queryMs } = this.#settings
		// Not in the packet that begins the connection, from which PgBouncer takes only parameters that it knows.
		const text = `set statement_timeout = ${queryMs}; set lock_timeout = ${Math.ceil(queryMs * share)};
			set idle_in_transaction_session_timeout = ${queryMs}`
		const pool = new pg.Pool({
			connectionString: url,
			max,
			fallback_application_name: 'remit',
			connectionTimeoutMillis: connectMs,
			pipeline: true,
			keepAlive: true,
			keepAliveInitialDelayMillis: keepAliveMs,
			onConnect: (client) => client.query({ text, query_timeout: connectMs } as pg.QueryConfig) as unknown as undefined,
		})
		// The pool handles errors of idle connections only; losing a connection in use would end the process.
		pool.on('connect', (client) => client.on('error', this.#onError))
		pool.on('error', () => {})
		return pool
	}
}

const readOnly = '25006'

const isReadOnly = (error: unknown) => (error as { code?: unknown }).code === readOnly

/** The message of pg's error when no answer came in time. */
const silence = 'Query read timeout'

const isSilent = (error: unknown) => error instanceof Error && error.message === silence

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

async function transact<T>(
	pools: Pools,
	statements: Statements<Named>,
	work: (tx: Transaction) => Promise<T>,
	durable: boolean,
): Promise<T> {
	const client = await pools.connect()
	const run = runOn(client, pools.answerMs)
	let committing = false
	let broken: unknown
	try {
		const began = run(durable ? 'begin' : 'begin; set local synchronous_commit = off')
		began.catch(() => {})
		const value = await work(transactionOf(after(began, run), statements))
		await began
		committing = true
		const { command } = await run('commit')
		if (command !== 'COMMIT') throw new Undone('one of its queries had failed')
		return value
	} catch (error) {
		if (isReadOnly(error)) broken = error
		await run('rollback').catch((failure) => {
			broken = failure
		})
		pools.noteFailure(error)
		throw committing && !isUndone(error) ? new OutcomeUnknown(error) : error
	} finally {
		client.release(broken !== undefined)
	}
}

/** Sends queries behind one that has no answer yet, whose failure is theirs: they share its round trip. */
const after =
	(first: Promise<unknown>, run: Run): Run =>
	async (query) => {
		const [, result] = await Promise.all([first, run(query)])
		return result
	}

const runOn =
	(client: pg.PoolClient, answerMs: number): Run =>
	(query) =>
		new Promise((resolve, reject) => {
			ask(client, query, answerMs, (error, result) => (error ? reject(error) : resolve(result)))
		})

/** Of a client, as its `end` in pg itself uses it where it waits for no answer. */
interface Silent {
	end(): Promise<void>
	readonly connection: { readonly stream: Socket }
}

/**
 * Runs a query, and closes the connection when no answer comes in time: the next query would wait behind this one. pg's own
 * `query_timeout` costs more: with it, most answers outlive V8's young generation (0.9 of 1.1 kB each; here nothing does).
 */
function ask(
	client: pg.PoolClient,
	query: string | pg.QueryConfig,
	answerMs: number,
	done: (error: Error | null, result: pg.QueryResult) => void,
): void {
	let isLate = false
	const timer = setTimeout(() => {
		isLate = true
		// Ends its queries with an error. By itself "end" waits until all are answered.
		const silent = client as unknown as Silent
		void silent.end()
		silent.connection.stream.destroy()
	}, answerMs)
	client.query(query as pg.QueryConfig, (error: Error | null, result: pg.QueryResult) => {
		clearTimeout(timer)
		done(isLate ? new Error(silence) : error, result)
	})
}

/** PostgreSQL answers the commit of a transaction whose query failed with a rollback, and without an error. */
class Undone extends Error {}

/**
 * Whether an error of a commit says that nothing is stored: a constraint (class 23) or a lost race (40, except 40003, "statement
 * completion unknown"). A server that is stopped may say so (57P01) after it has stored the transaction.
 */
function isUndone(error: unknown): boolean {
	return error instanceof pg.DatabaseError ? /^(23|40(?!003))/.test(error.code ?? '') : error instanceof Undone
}

function transactionOf(run: Run, statements: Statements<Named>): Transaction {
	return {
		...runner(run, statements),
		async attempt(work) {
			await run('savepoint part')
			try {
				const value = await work()
				await run('release savepoint part')
				return value
			} catch (error) {
				await run('rollback to savepoint part')
				throw error
			}
		},
	}
}

/** 40001 serialization failure, 40P01 deadlock: the other transaction won, and this one can run again. */
function isLostRace(error: unknown): boolean {
	return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01')
}
