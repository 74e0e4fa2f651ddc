// Finds out whether a pooler stands between this process and PostgreSQL that nobody told it of.
import pg from 'pg'
import { ConfigError } from '../../base/errors.ts'
import { within } from './silence.ts'

/** How long to look; a pooler with a single connection would never answer the second client. */
const lookMs = 2_000

/** Throws where a pooler gives each transaction another connection: what a client sets or prepares is then on connections of others. */
export async function requireNoPooler(url: string): Promise<void> {
	const clients = [new pg.Client(url), new pg.Client(url)] as const
	// A look that fails says nothing: who needs the database says what it lacks.
	for (const client of clients) client.on('error', () => {})
	const isPooled = await within(lookMs, changesConnection(...clients)).catch(() => false)
	for (const client of clients) void client.end().catch(() => {})
	if (isPooled) throw new ConfigError('DATABASE_URL: it leads to a pooler of transactions: set DATABASE_POOLER=transaction.')
}

/** Whether a client has another connection after a second one has given one back. */
async function changesConnection(client: pg.Client, other: pg.Client): Promise<boolean> {
	await Promise.all([client.connect(), other.connect()])
	const connection = async () => (await client.query('select pg_backend_pid() as pid')).rows[0].pid
	await other.query('begin')
	const before = await connection()
	await other.query('commit')
	// A pooler that takes turns gives the same one once more.
	return (await connection()) !== before || (await connection()) !== before
}
