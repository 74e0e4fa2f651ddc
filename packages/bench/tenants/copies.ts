// Makes copies of an organization by SQL, each with all its records. Ids stay: every key begins with the organization.
import { indexesOf } from '../lists/grow.ts'
import { openSql, type Sql } from '../lists/sql.ts'

/** They are secret, and found without the organization: a copy has its own. */
const found = ['hash', 'tokenHash', 'linkHash', 'stateHash', 'issuer']

export async function copyOrganization(url: string, organizationId: string, count: number): Promise<void> {
	const sql = await openSql({ DATABASE_URL: url })
	await sql.run(`set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '512MB'`)
	for (const name of await tablesOf(sql)) {
		const indexes = await indexesOf(sql, name)
		for (const index of indexes) await sql.run(`drop index "${index.name}"`)
		const columns = await columnsOf(sql, name)
		const values = columns.map((column) => valueFor(name, column))
		await sql.run(`insert into "${name}" (${columns.map((column) => `"${column}"`).join(', ')})
			select ${values.join(', ')} from "${name}", generate_series(1, ${count}) as copies(n) where "organizationId" = '${organizationId}'`)
		for (const { definition } of indexes) await sql.run(definition as string)
	}
	await sql.run('vacuum analyze')
	await sql.close()
}

function valueFor(table: string, column: string): string {
	if (column === 'organizationId') return `'org_copy' || n`
	if (table === 'events' && column === 'position') return `nextval('events_position_seq')`
	return found.includes(column) ? `"${column}" || n` : `"${column}"`
}

const tablesOf = async ({ rows }: Sql): Promise<string[]> =>
	(
		await rows(
			`select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'organizationId'`,
		)
	).map(({ name }) => name as string)

const columnsOf = async ({ rows }: Sql, table: string): Promise<string[]> =>
	(
		await rows(`select column_name as name from information_schema.columns where table_schema = 'public' and table_name = '${table}'
			and is_generated = 'NEVER'`)
	).map(({ name }) => name as string)
