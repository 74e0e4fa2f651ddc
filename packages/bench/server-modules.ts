// Loads the server's own drivers and Express, so that the rivals run on the same code. The types cover only what is used.
import { createRequire } from 'node:module'

export interface Statement<Row> {
	get(...values: unknown[]): Row | undefined
	all(...values: unknown[]): Row[]
	run(...values: unknown[]): unknown
	/** Makes each row the value of its first column. */
	pluck(): Statement<unknown>
}

export interface Sqlite {
	prepare<Row>(sql: string): Statement<Row>
	exec(sql: string): void
	pragma(text: string): unknown
	transaction<Arguments extends unknown[], Result>(
		work: (...values: Arguments) => Result,
	): { immediate(...values: Arguments): Result }
	close(): void
}

interface Request {
	readonly headers: { readonly authorization?: string }
	readonly params: Record<string, string>
	readonly query: Record<string, string>
	readonly body: object
}
interface Response {
	readonly locals: { organizationId: string }
	status(code: number): Response
	json(body: unknown): void
}
type Handler = (req: Request, res: Response, next: () => void) => void
type Route = (path: string, ...handlers: Handler[]) => void

interface Express {
	(): ((req: object, res: object) => void) & {
		disable(setting: string): void
		set(setting: string, value: unknown): void
		use(handler: Handler): void
		get: Route
		post: Route
	}
	json(): Handler
}

interface PostgresClient {
	on(event: 'error', listener: (error: Error) => void): void
	connect(): Promise<void>
	query(sql: string): Promise<unknown>
	end(): Promise<void>
}

interface PostgresPool {
	query(query: string | { name: string; text: string; values: unknown[] }, values?: unknown[]): Promise<{ rows: Row[] }>
}

type Row = Record<string, unknown>

interface Postgres {
	readonly Client: new (options: { connectionString: string; connectionTimeoutMillis: number }) => PostgresClient
	readonly Pool: new (options: { connectionString: string; max: number }) => PostgresPool
	readonly types: {
		setTypeParser(type: number, parse: (text: string) => unknown): void
		readonly builtins: { readonly INT8: number }
	}
}

const load = createRequire(new URL('../server/package.json', import.meta.url))

export const loadSqlite = () => load('better-sqlite3') as new (file: string, options?: { readonly?: boolean }) => Sqlite
export const loadExpress = () => load('express') as Express
export const loadPostgres = () => load('pg') as Postgres
