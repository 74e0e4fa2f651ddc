import { beforeEach, expect, it } from 'vitest'
import { asNumber, query } from './database.ts'
import { Statements } from './statements.ts'

const change = query<Record<string, unknown>>((knex, columns) => knex('companies').update(columns))

interface Prepared {
	readonly sql: string
	readonly stays: boolean
}

let prepared: Prepared[]
let statements: Statements<Prepared>
beforeEach(() => {
	prepared = []
	statements = new Statements('postgres', (sql, stays) => {
		prepared.push({ sql, stays })
		return { sql, stays }
	})
})

const columns = (count: number) => Array.from({ length: count }, (_, index) => ({ [`column${index}`]: 'x' }))

it('a query is built once for each set of parameters that are present, whatever their values', () => {
	for (const name of ['Acme', null, '']) statements.compile(change, { name, phone: undefined })
	statements.compile(change, { name: 'Acme', phone: '1' })
	expect(prepared.map(({ sql }) => sql)).toEqual([
		'update "companies" set "name" = $1',
		'update "companies" set "name" = $1, "phone" = $2',
	])
	const { statement, values } = statements.compile(change, { name: 'Acme' })
	expect([statement.sql, values({ name: 'Ajax', phone: '1' })]).toEqual(['update "companies" set "name" = $1', ['Ajax']])
})

it('a client that sends any number of sets of fields fills no memory, and does not displace what others use', () => {
	const usual = statements.compile(change, { name: 'Acme' })
	for (const unusual of columns(1_000)) {
		statements.compile(change, unusual)
		expect(statements.compile(change, { name: 'Acme' })).toBe(usual)
	}
	expect(prepared.filter(({ stays }) => stays)).toHaveLength(50)
	prepared = []
	for (const unusual of columns(1_000)) statements.compile(change, unusual)
	expect(prepared.length).toBeGreaterThan(950)
})

it('SQLite looks behind no value of a limit, a pattern or a comparison, so that it plans a statement once', () => {
	const page = query<{ id: string; name: string; limit: number }>((knex, { id, name, limit }) =>
		knex('companies').where('id', '>', id).whereLike('name', name).limit(asNumber(limit)).select('id'),
	)
	const { statement } = new Statements('sqlite', (sql) => sql).compile(page, { id: 'a', name: 'A%', limit: 2 })
	expect(statement).toBe('select `id` from `companies` where `id` > +? and `name` like +? limit +?')
})
