// Runs before each test file on PostgreSQL: a file fails whose servers run a statement that reaches the rows of other organizations than
// the one it names, but for those that cannot name one. So the tables can be cut into parts by organization: each statement needs one part.

import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { Statements } from '../src/platform/db/statements.ts'
import { newDatabase } from './databases.ts'

/** The statements that name no organization, and why. Each finds its rows by an index, unless it is one of `rare`. */
const others: readonly (readonly [why: string, statement: RegExp])[] = [
	[
		'It finds out whose a key, a session, a link or an address is.',
		/where (\w+\.|"\w+"\.)?"(hash|tokenHash|stateHash|linkHash|email)" = \$1/,
	],
	[
		'It finds out whose a person of a provider, or a payment of a processor is.',
		/"(users" where "issuer" = \$1|payment_links" where "processor" = \$1)/,
	],
	[
		'It finds what is due.',
		/from "?jobs"?\b|update "jobs"|from webhook_deliveries d? ?where "(nextAttemptAt|holdsUntil)"|"mails" where status = 'sending'/,
	],
	['It finds endpoints with a backlog that is to be moved.', /from "webhook_endpoints" where \("skipUpTo" is not null/],
	['Hosts and addresses of mail belong to no organization.', /"?(webhook_hosts|suppressed_addresses)"?/],
	[
		'It walks through all rows, a part at a time.',
		/order by "organizationId" asc(, "\w+" asc)* limit \d+|where \w+\."organizationId" = f\.value ->> 0/,
	],
	['It is a command of the operator.', /select "organizationId" from "api_keys" where "id" = \$1/],
	['It asks for the time.', /clock_timestamp\(\)/],
	['It counts the rows of tables.', /^do \$\$ declare young/],
	['It counts what waits, for the metrics.', /as "dueSince"/],
	['It finds syncs that a webhook of a provider may be about.', /from "syncs" as "s" inner join "connections"/],
	[
		'It sets up a server.',
		/lock table users|from "users" where "passwordHash" is not null|from "organizations" order by "createdAt"/,
	],
]

/** Those that read a whole table: they run once a day, once a start, or once in the life of a server. */
const rare =
	/^do \$\$|delete from "webhook_hosts"|lock table users|from "users" where "passwordHash" is not null|from "organizations" order by "createdAt"/

const names = /"organizationId"\s*=\s*(\$\d|r\."organizationId"|cast\(\$\d)/
const inserts = /^\s*insert into "?\w+"?( as \w+)? \([^)]*"organizationId"/

declare global {
	/** The statements of the server that this process has run, with those that are still to be judged. */
	var watchedStatements: { readonly seen: Set<string>; fresh: string[] } | undefined
}

/** The first caller that is no part of `platform/db/`, or a test; of rows that changes have left, the function that writes them for all. */
const callerOf = (stack = '') =>
	stack
		.split('\n')
		.find((line) => /\brunLater\b|packages\/server\/(src\/(?!platform\/db\/)|.*\.test\.ts|test\/(?!watch-))/.test(line))

function watchStatements() {
	const watched = { seen: new Set<string>(), fresh: [] as string[] }
	const { compile } = Statements.prototype
	Statements.prototype.compile = function (query, params) {
		const compiled = compile.call(this, query as never, params)
		const { text } = compiled.statement as { text: string }
		if (watched.seen.has(text)) return compiled
		const { stackTraceLimit } = Error
		Error.stackTraceLimit = 30
		const caller = callerOf(new Error().stack)
		Error.stackTraceLimit = stackTraceLimit
		// Tests look at whatever they want to.
		if (!caller || /\.test\.ts|server\/test\//.test(caller)) return compiled
		watched.seen.add(text)
		watched.fresh.push(text.replace(/\s+/g, ' '))
		return compiled
	}
	return watched
}

globalThis.watchedStatements ??= watchStatements()

/** Of these statements, those that PostgreSQL could only answer by reading a whole table. */
async function readingTables(statements: readonly string[]): Promise<string[]> {
	if (statements.length === 0) return []
	const database = await newDatabase('postgres', inject('template'))
	const client = new pg.Client(database.settings.DATABASE_URL)
	await client.connect()
	await client.query('set enable_seqscan = off; set plan_cache_mode = force_generic_plan')
	const found: string[] = []
	for (const sql of statements) {
		await client.query(`prepare watched as ${sql}`)
		const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
		const values = count === 0 ? '' : `(${Array(count).fill('null').join(', ')})`
		const { rows } = await client.query(`explain execute watched${values}`)
		if (rows.some((row) => row['QUERY PLAN'].includes('Seq Scan'))) found.push(sql)
		await client.query('deallocate watched')
	}
	await client.end()
	await database.drop()
	return found
}

afterAll(async () => {
	const watched = globalThis.watchedStatements as NonNullable<typeof globalThis.watchedStatements>
	const elsewhere = watched.fresh.splice(0).filter((sql) => !names.test(sql) && !inserts.test(sql))
	const unexplained = elsewhere.filter((sql) => !others.some(([, statement]) => statement.test(sql)))
	if (unexplained.length > 0) throw new Error(`These name no organization:\n${unexplained.join('\n')}`)
	const reading = await readingTables(elsewhere.filter((sql) => !rare.test(sql)))
	if (reading.length > 0) throw new Error(`These name no organization, and read whole tables:\n${reading.join('\n')}`)
})
