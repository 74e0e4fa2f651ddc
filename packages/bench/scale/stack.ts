// The whole of the guide on this machine: HAProxy, three servers that take requests and two workers, PgBouncer, a primary with a
// synchronous standby, and Redis.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { atEnd } from '../resources.ts'
import { loadPostgres } from '../server-modules.ts'
import { type Files, user, writeFiles } from './files.ts'
import { type Command, Parts, signalTree } from './parts.ts'

const { Client } = loadPostgres()

export const apis = ['one', 'two', 'three'] as const
const workers = ['worker-one', 'worker-two'] as const
export const servers = [...apis, ...workers]
type Server = (typeof servers)[number]

/** The two clusters of PostgreSQL, and the ports of each in the guide. */
export type Cluster = 'one' | 'two'

export class Stack {
	readonly files: Files
	readonly parts = new Parts()
	/** The cluster that takes changes. */
	primary: Cluster = 'one'
	readonly #server: string

	private constructor(files: Files, server: string) {
		this.files = files
		this.#server = server
	}

	static async start(server: string): Promise<Stack> {
		const stack = new Stack(await writeFiles(randomBytes(32).toString('base64')), server)
		await stack.#startDatabase()
		await stack.parts.start('redis', stack.#redis())
		await stack.parts.start('pgbouncer', stack.#pgbouncer())
		await Promise.all(servers.map((name) => stack.parts.start(name, stack.#remit(name))))
		await stack.parts.start('haproxy', stack.#haproxy())
		await stack.parts.start('watch', stack.#watch())
		return stack
	}

	get url(): string {
		return `http://127.0.0.1:${this.files.ports.haproxy}`
	}

	/** Resolves when HAProxy sends requests to so many servers. */
	async isSeen(count: number): Promise<void> {
		const up = async () => {
			const text = await (await fetch(`http://127.0.0.1:${this.files.ports.state}/;csv`)).text()
			return text.split('\n').filter((line) => /^servers,(?!BACKEND).*,UP,/.test(line)).length
		}
		for (const began = performance.now(); (await up()) !== count; await sleep(50))
			if (performance.now() - began > 90_000) throw new Error(`HAProxy sees ${await up()} servers, not ${count}`)
	}

	get standby(): Cluster {
		return this.primary === 'one' ? 'two' : 'one'
	}

	portOf(cluster: Cluster): number {
		return this.files.ports[cluster === 'one' ? 'primary' : 'standby']
	}

	/** The primary itself, without PgBouncer. */
	databaseUrl(cluster = this.primary, role = 'postgres'): string {
		return `postgres://${role}:${role}-password@127.0.0.1:${this.portOf(cluster)}/remit`
	}

	killCluster(cluster: Cluster): void {
		process.kill(this.#pidOf(cluster), 'SIGKILL')
	}

	/** Has a standby that does not run find its primary no more. */
	cutOff(standby: Cluster): void {
		appendFileSync(join(this.files.folder, standby, 'postgresql.auto.conf'), "primary_conninfo = ''\n")
	}

	/** Tries it as a process manager does: what is left of a killed one may still run. */
	async startCluster(cluster: Cluster): Promise<void> {
		for (let attempt = 1; ; attempt++) {
			await sleep(1_000)
			const failure = await this.files.run('start.sh', cluster).catch((error) => error as Error)
			if (!failure) return
			if (attempt === 20) throw failure
		}
	}

	/** Has the primary wait for a standby with each commit; '' for none. */
	waitFor(standby: Cluster | ''): Promise<void> {
		return this.files.run('wait-for.sh', standby, `${this.portOf(this.primary)}`)
	}

	/** As the guide has backups made, in turns. */
	async dump(times: number): Promise<void> {
		for (let n = 0; n < times; n++) {
			const args = ['--format=custom', '--no-owner', '--no-privileges', `--file=${join(this.files.folder, `${n}.dump`)}`]
			await promisify(execFile)('pg_dump', [...args, this.databaseUrl()])
		}
	}

	async stop(): Promise<void> {
		await this.parts.stopAll()
		for (const cluster of ['one', 'two'] as const) await this.#stopCluster(cluster).catch(() => {})
	}

	/** Rejects when it does not run. */
	async #stopCluster(cluster: Cluster): Promise<void> {
		const pid = this.#pidOf(cluster)
		for (process.kill(pid, 'SIGQUIT'); ; process.kill(pid, 0)) await sleep(20)
	}

	/** Has PgBouncer lead to a cluster. */
	lead(cluster: Cluster): void {
		const file = join(this.files.folder, 'pgbouncer.ini')
		const text = readFileSync(file, 'utf8').replace(/^(remit = .* port=)\d+/m, `$1${this.portOf(cluster)}`)
		writeFileSync(file, text)
		this.parts.signal('pgbouncer', 'SIGHUP')
	}

	/** Whether a cluster stores something and says so, within a few seconds. */
	async answersWrites(cluster: Cluster): Promise<boolean> {
		const client = new Client({ connectionString: this.databaseUrl(cluster), connectionTimeoutMillis: 2_000 })
		// What is not answered is broken off when the cluster is made a standby.
		client.on('error', () => {})
		await client.connect()
		const answered = client.query('create table written ()').then(
			() => true,
			() => false,
		)
		return Promise.race([answered, sleep(3_000, false)])
	}

	/** Resolves when watch.sh has made the standby the primary. */
	async promoted(): Promise<void> {
		const file = join(this.files.folder, 'pgbouncer.ini')
		const line = new RegExp(`^remit = .* port=${this.portOf(this.standby)}\\b`, 'm')
		for (const began = performance.now(); !line.test(readFileSync(file, 'utf8')); await sleep(50))
			if (performance.now() - began > 30_000) throw new Error(`watch.sh did not promote:\n${this.parts.output('watch')}`)
		this.primary = this.standby
	}

	/** Stops each process of a cluster, or lets it go on. */
	signalCluster(cluster: Cluster, signal: 'SIGSTOP' | 'SIGCONT'): void {
		signalTree(this.#pidOf(cluster), signal)
	}

	/** Copies the primary into the other cluster, which follows it from then on. */
	follow(): Promise<void> {
		const { standby, primary } = this
		return this.files.run('follow.sh', standby, `${this.portOf(standby)}`, `${this.portOf(primary)}`)
	}

	#pidOf(cluster: Cluster): number {
		return Number(readFileSync(join(this.files.folder, cluster, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
	}

	async #startDatabase(): Promise<void> {
		atEnd(() => this.stop())
		await this.files.run('create.sh')
		await this.follow()
	}

	#redis(): Command {
		const { folder, ports } = this.files
		return { command: 'redis-server', args: [join(folder, 'redis.conf')], isReady: () => accepts(ports.redis) }
	}

	#pgbouncer(): Command {
		const { folder, ports } = this.files
		return { command: 'pgbouncer', args: [join(folder, 'pgbouncer.ini')], user, isReady: () => accepts(ports.pgbouncer) }
	}

	#haproxy(): Command {
		const args = ['-db', '-f', join(this.files.folder, 'haproxy.cfg')]
		return { command: 'haproxy', args, isReady: () => isReady(`${this.url}/ready`) }
	}

	#watch(): Command {
		const { folder, ports } = this.files
		const env = { PGPASSFILE: join(folder, 'pgpass') }
		const args = [join(folder, 'watch.sh'), 'one', `${ports.primary}`, 'two', `${ports.standby}`]
		return { command: 'sh', args, env, user, isReady: async () => true }
	}

	#remit(name: Server): Command {
		const port = this.files.ports[name]
		const role = name.startsWith('worker') ? 'worker' : 'api'
		const env = { ...this.files.env, ...ofTheBench, PORT: String(port), ROLE: role }
		const args = ['--max-semi-space-size=16', join(this.#server, 'bin/remit.js'), 'serve', '--json']
		return { command: process.execPath, args, env, isReady: () => isReady(`http://127.0.0.1:${port}/ready`) }
	}
}

/** Limits that the loads of the bench would reach, and the receiver of webhooks on this machine. */
export const ofTheBench = {
	INVOICING_RATE_LIMIT: '0',
	STORED_MB_PER_DAY: '0',
	EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
	WEBHOOK_HOST_RATE: '0',
}

const isReady = async (url: string) => (await fetch(url)).ok

const accepts = (port: number) =>
	new Promise<boolean>((resolve) => {
		const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
		socket.once('connect', () => socket.destroy())
	})
