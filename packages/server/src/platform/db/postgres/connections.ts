// The connections to PostgreSQL, with a time limit on everything. Reads have connections of their own, so that none waits for a
// transaction that waits for a lock.
import type { Socket } from 'node:net'
import pg from 'pg'
import { isReadOnly, readOnly } from './errors.ts'
import { isSilent, silence, within } from './silence.ts'

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
	/** A standby for reads of many rows; empty for none. */
	readonly readUrl: string
	/** What is between this process and PostgreSQL. A pooler of transactions gives each another connection of its own. */
	readonly pooler: 'none' | 'transaction'
	/** The connections of this process: half of them only read. */
	readonly connections: number
	/** How long to wait until PostgreSQL accepts a connection, or until one is free. */
	readonly connectMs: number
	/** How long a query may take, and a pause in a transaction. A lock is waited for half as long, by a read for an eighth. */
	readonly queryMs: number
}

export interface ConnectionUse {
	readonly use: 'reads' | 'writes'
	readonly busy: number
	readonly idle: number
	/** Queries or transactions that wait for a connection. */
	readonly waiting: number
}

/** Runs a query; `organizationId` is the organization that the query names. */
export type Run = (query: string | pg.QueryConfig, organizationId?: string) => Promise<pg.QueryResult>

export class Pools {
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
	#isEnded = false

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

	/** How long a change waits for a lock. */
	get lockMs(): number {
		return Math.ceil(this.#settings.queryMs * patience.writes)
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
		if (this.#isEnded || (!isSilent(error) && !isReadOnly(error))) return
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
		this.#isEnded = true
		await Promise.all([this.#reads.end(), this.#writes.end(), this.#probe.end()])
	}

	#open(max: number, share = patience.writes): pg.Pool {
		const { url, pooler, connectMs, queryMs } = this.#settings
		// Not in the packet that begins the connection, from which PgBouncer takes only parameters that it knows.
		//
		// Every statement has an index. PostgreSQL keeps a plan from when a table was empty, which reads all of it, until it has counted the rows
		// by itself. The few that have none, once a day or a start, look so costly then that it would compile them first.
		const text = `set statement_timeout = ${queryMs}; set lock_timeout = ${Math.ceil(queryMs * share)};
			set idle_in_transaction_session_timeout = ${queryMs};
			set enable_seqscan = off; set jit = off`
		const pool = new pg.Pool({
			connectionString: url,
			max,
			fallback_application_name: 'remit',
			connectionTimeoutMillis: connectMs,
			pipeline: true,
			keepAlive: true,
			keepAliveInitialDelayMillis: keepAliveMs,
			...(pooler === 'none' && {
				onConnect: (client) => client.query({ text, query_timeout: connectMs } as pg.QueryConfig) as unknown as undefined,
			}),
		})
		// The pool handles errors of idle connections only; losing a connection in use would end the process.
		pool.on('connect', (client) => client.on('error', this.#onError))
		pool.on('error', () => {})
		return pool
	}
}

export const runOn =
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
 * Runs a query, and closes the connection when no answer comes in time, whatever pg makes of that: the next query would wait behind this one. pg's own
 * `query_timeout` costs more: with it, most answers outlive V8's young generation (0.9 of 1.1 kB each; here nothing does).
 */
function ask(
	client: pg.PoolClient,
	query: string | pg.QueryConfig,
	answerMs: number,
	done: (error: Error | null, result: pg.QueryResult) => void,
): void {
	let isDone = false
	const finish = (error: Error | null, result: pg.QueryResult) => {
		if (isDone) return
		isDone = true
		clearTimeout(timer)
		done(error, result)
	}
	const timer = setTimeout(() => {
		// Ends its queries with an error. By itself "end" waits until all are answered.
		const silent = client as unknown as Silent
		void silent.end()
		silent.connection.stream.destroy()
		finish(new Error(silence), undefined as never)
	}, answerMs)
	client.query(query as pg.QueryConfig, finish)
}
