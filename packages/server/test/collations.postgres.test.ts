// Columns that are compared with each other have one collation: otherwise PostgreSQL compares them without the index of one of them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sortKeys } from '../src/billing/invoices/reading/orders.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { connect } from './plans.ts'
import type { Ask } from './tables.ts'

let server: TestServer
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer()
	;({ ask, end } = await connect(server.settings))
})
afterAll(async () => {
	await end()
	await server.close()
})

interface Column {
	readonly table: string
	readonly name: string
	readonly collation: string
}

const readTexts = async () =>
	(await ask(`select c.relname as table, a.attname as name, l.collname as collation from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_collation l on l.oid = a.attcollation
		where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1, 2`)) as unknown as Column[]

/** What ends in `Id` and names nothing that Remit stores. An organization's is the database's own collation in every table. */
const otherIds = new Set(
	['organizationId', 'externalId', 'requestId', 'messageId', 'operationId', 'taxId', 'vatId', 'userId', 'taskId'].concat(
		'deliverableId',
	),
)

const isId = ({ name }: Column) => /^id$|Id$/.test(name)

it('an id of a record, and every reference to one, is compared by bytes', async () => {
	const records = (await readTexts()).filter((column) => isId(column) && !otherIds.has(column.name))
	expect(records.length).toBeGreaterThan(50)
	expect(records.filter(({ collation }) => collation !== 'C')).toEqual([])
})

it('columns of one name that are ids have one collation', async () => {
	const byName = Map.groupBy((await readTexts()).filter(isId), ({ name }) => name)
	const mixed = [...byName.values()].filter((columns) => new Set(columns.map(({ collation }) => collation)).size > 1)
	expect(mixed).toEqual([])
})

it('a foreign key has the collations of the key to which it refers', async () => {
	const pairs = await ask(`select f.conname as key, a.attname as from, b.attname as to,
			a.attcollation::int as collation, b.attcollation::int as other from pg_constraint f
		cross join lateral unnest(f.conkey, f.confkey) as k(here, there)
		join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.here
		join pg_attribute b on b.attrelid = f.confrelid and b.attnum = k.there where f.contype = 'f'`)
	expect(pairs.length).toBeGreaterThan(40)
	expect(pairs.filter(({ collation, other }) => collation !== other)).toEqual([])
})

it('invoices go by their numbers as bytes, whatever the collation of the database', async () => {
	const number = `select text 'A-1' collate "POSIX" as "invoiceNumber"`
	const [row] = await ask(
		`select pg_collation_for(${sortKeys.invoiceNumber.sql('postgres')}) as collation from (${number}) as invoices`,
	)
	expect(row).toEqual({ collation: '"C"' })
})
