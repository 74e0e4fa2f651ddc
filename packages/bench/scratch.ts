// Scratch databases of the PostgreSQL on this machine, which the end of the run drops.
import { atEnd } from './resources.ts'
import { loadPostgres } from './server-modules.ts'

const { Client } = loadPostgres()

const base = 'postgres://postgres@127.0.0.1:5432'

/** Creates an empty database, or a copy of one that has no connections; returns its URL. */
export async function newDatabase(name: string, template?: string): Promise<string> {
	await run(`create database ${nameOf(name)}${template === undefined ? '' : ` template ${nameOf(template)}`}`)
	atEnd(() => dropDatabase(name))
	return `${base}/${nameOf(name)}`
}

export const dropDatabase = (name: string) => run(`drop database if exists ${nameOf(name)} with (force)`)

const nameOf = (name: string) => `remit_bench_${process.pid}_${name}`

export async function run(sql: string, url = `${base}/postgres`): Promise<void> {
	const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
	await client.connect()
	try {
		await client.query(sql)
	} finally {
		await client.end()
	}
}

export const isReachable = () =>
	run('select 1').then(
		() => true,
		() => false,
	)
