// PostgreSQL: a pool, and statements that each connection prepares once under a name.
import pg from 'pg'
import { CommitListeners, type Database, type Db, type Query, type Transaction, UniqueViolation } from './database.ts'
import { Statements } from './statements.ts'

// Cents and milliseconds are int8 and stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Attempts for a transaction that loses to another (deadlock, serialization failure). */
const tries = 5

interface Named {
	readonly name: string
	readonly text: string
}

export function openPostgres(url: string, onError: (error: Error) => void): Database {
	const pool = new pg.Pool({ connectionString: url, max: 10 })
	// The pool handles errors of idle connections only; losing a connection in use would end the process.
	pool.on('connect', (client) => client.on('error', onError))
	pool.on('error', () => {})
	const committed = new CommitListeners()
	let prepared = 0
	const statements = new Statements<Named>('postgres', (text) => ({ name: `s${++prepared}`, text }))
	return {
		...runner(pool, statements),
		async transaction(work, { durable = true } = {}) {
			for (let attempt = 1; ; attempt++) {
				try {
					const value = await transact(pool, statements, work, durable)
					committed.notify()
					return value
				} catch (error) {
					if (attempt === tries || !isLostRace(error)) throw error
				}
			}
		},
		onCommit: (listener) => committed.add(listener),
		close: () => pool.end(),
	}
}

function runner(connection: pg.Pool | pg.PoolClient, statements: Statements<Named>): Db {
	async function execute<P extends object, Row>(query: Query<P, Row>, params: P): Promise<pg.QueryResult> {
		const { statement, values } = statements.compile(query, params)
		try {
			return await connection.query({ ...statement, values: values(params) })
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
	pool: pg.Pool,
	statements: Statements<Named>,
	work: (tx: Transaction) => Promise<T>,
	durable: boolean,
): Promise<T> {
	const client = await pool.connect()
	let broken: Error | undefined
	try {
		await client.query(durable ? 'begin' : 'begin; set local synchronous_commit = off')
		const value = await work(transactionOf(client, statements))
		await client.query('commit')
		return value
	} catch (error) {
		await client.query('rollback').catch((failure: Error) => {
			broken = failure
		})
		throw error
	} finally {
		client.release(broken)
	}
}

function transactionOf(client: pg.PoolClient, statements: Statements<Named>): Transaction {
	return {
		...runner(client, statements),
		async attempt(work) {
			await client.query('savepoint part')
			try {
				const value = await work()
				await client.query('release savepoint part')
				return value
			} catch (error) {
				await client.query('rollback to savepoint part')
				throw error
			}
		},
		async tryLock(name) {
			const { rows } = await client.query('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as held', [name])
			return rows[0].held
		},
	}
}

/** 40001 serialization failure, 40P01 deadlock: the other transaction won, and this one can run again. */
function isLostRace(error: unknown): boolean {
	return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01')
}
