// Compiles a query once for each set of parameters that are present, into a prepared statement: building SQL on every call
// costs several times the query itself.
import knexFactory, { type Knex } from 'knex'
import type { Dialect, Placeholders, Query } from './database.ts'

export interface Compiled<Statement> {
	readonly statement: Statement
	values(params: object): unknown[]
}

/** The statement of a query for the parameters with these names. */
interface Shape<Statement> {
	readonly names: readonly string[]
	readonly compiled: Compiled<Statement>
}

/** Turns SQL into what the driver runs. What does not stay is dropped sooner or later, so that a connection is not to remember it. */
type Prepare<Statement> = (sql: string, stays: boolean) => Statement

/** Statements to keep of a query. A PATCH has one for each set of fields, and a client can send any number of sets. */
const maxShapes = 50

/** Compiles queries for one database. */
export class Statements<Statement> {
	readonly #dialect: Dialect
	readonly #knex: Knex
	readonly #prepare: Prepare<Statement>
	readonly #compiled = new Map<object, Shape<Statement>[]>()

	constructor(dialect: Dialect, prepare: Prepare<Statement>) {
		this.#dialect = dialect
		this.#knex = knexFactory({ client: dialect === 'sqlite' ? 'better-sqlite3' : 'pg', useNullAsDefault: true })
		this.#prepare = prepare
	}

	compile<P extends object, Row>(query: Query<P, Row>, params: P): Compiled<Statement> {
		let shapes = this.#compiled.get(query)
		if (!shapes) {
			shapes = []
			this.#compiled.set(query, shapes)
		}
		for (let index = 0; index < shapes.length; index++) {
			const shape = shapes[index] as Shape<Statement>
			if (!areAll(shape.names, params)) continue
			// What is used moves to the front, a place at a time.
			if (index > 0) [shapes[index - 1], shapes[index]] = [shape, shapes[index - 1] as Shape<Statement>]
			return shape.compiled
		}
		const names = Object.keys(params).filter((name) => params[name as keyof P] !== undefined)
		const compiled = this.#build(query, names, shapes.length < maxShapes)
		if (shapes.length === maxShapes) shapes.pop()
		shapes.push({ names, compiled })
		return compiled
	}

	#build<P extends object, Row>(query: Query<P, Row>, names: readonly string[], stays: boolean): Compiled<Statement> {
		const placeholders = Object.fromEntries(names.map((name, index) => [name, new Placeholder(name, index)]))
		const built = query.build(this.#knex, placeholders as unknown as Placeholders<P>, this.#dialect)
		const { sql, bindings } = built.toSQL().toNative()
		const sources = bindings.map((binding) => source(binding, names))
		const convert = this.#dialect === 'sqlite' ? sqliteValue : postgresValue
		return {
			statement: this.#prepare(this.#dialect === 'sqlite' ? plannedOnce(sql) : sql, stays),
			values: (params: Record<string, unknown>) =>
				sources.map((from) => convert('name' in from ? params[from.name] : from.value)),
		}
	}
}

/** Whether these are the names of the parameters that are present, in their order. A key made of them costs more than most statements. */
function areAll(names: readonly string[], params: object): boolean {
	let count = 0
	for (const name in params) if (params[name as keyof object] !== undefined && names[count++] !== name) return false
	return count === names.length
}

/**
 * SQLite plans a statement again when a value changes that its planner has looked at: in a limit, a pattern, and beside a comparison with an indexed column
 * (has the value what a partial index asks for?). It does not look behind `+`, which changes no value. A row by id costs 5 µs instead of 58.
 */
const plannedOnce = (sql: string) =>
	sql.replace(/(?<=[=<>]|limit|offset|like) \?/g, ' +?').replace(/(?<=[<>] )\(\?, \?\)/g, '(+?, +?)')

/** limit() and offset() take integers only: integers from here on, which no query contains, stand for placeholders. */
const reserved = 2 ** 50

class Placeholder {
	readonly name: string
	readonly #index: number

	constructor(name: string, index: number) {
		this.name = name
		this.#index = index
	}

	toString(): string {
		return String(reserved + this.#index)
	}
}

function source(binding: unknown, names: readonly string[]): { name: string } | { value: unknown } {
	if (binding instanceof Placeholder) return binding
	if (typeof binding === 'number' && binding >= reserved) return { name: names[binding - reserved] as string }
	return { value: binding }
}

function sqliteValue(value: unknown): unknown {
	if (typeof value === 'boolean') return value ? 1 : 0
	return postgresValue(value)
}

/** Binds JSON as text: the driver would turn an array into a PostgreSQL array. Bytes stay bytes. */
function postgresValue(value: unknown): unknown {
	return typeof value === 'object' && value !== null && !(value instanceof Uint8Array) ? JSON.stringify(value) : value
}
