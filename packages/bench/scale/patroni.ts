// The same with Patroni in place of the guide's scripts: etcd, two members, HAProxy in front of them, and a server. Each time the machine of
// the primary dies or freezes, and comes back later.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../context.ts'
import { check, table, title } from '../report.ts'
import { atEnd } from '../resources.ts'
import { audit } from './audit.ts'
import { Clients } from './clients.ts'
import { type Files, user } from './files.ts'
import { Parts, signalTree } from './parts.ts'
import type { Receiver } from './receiver.ts'

const members = ['one', 'two'] as const
type Member = (typeof members)[number]

/** How long the machine is away: longer than another member needs to take the lead. */
const awayMs = 30_000
const mostSeconds = 60
const patienceMs = 120_000

export class PatroniCluster {
	readonly #files: Files
	readonly #parts = new Parts()

	private constructor(files: Files) {
		this.#files = files
	}

	static async start(files: Files): Promise<PatroniCluster> {
		const cluster = new PatroniCluster(files)
		atEnd(() => cluster.stop())
		const { folder } = files
		const { etcd, 'etcd-peers': peers } = files.ports
		const [clients, others] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peers}`]
		const args = ['--data-dir', join(folder, 'etcd'), '--listen-client-urls', clients, '--advertise-client-urls', clients]
		await cluster.#parts.start('etcd', {
			command: 'etcd',
			args: [
				...args,
				'--enable-v2=true',
				'--listen-peer-urls',
				others,
				'--initial-advertise-peer-urls',
				others,
				'--initial-cluster',
				`default=${others}`,
			],
			user,
			isReady: () => isOk(`${clients}/health`),
		})
		cluster.#writeSecond()
		await cluster.#start('one')
		await cluster.#until('one', 'primary')
		await cluster.#start('two')
		await cluster.#until('two', 'sync')
		const haproxy = { command: 'haproxy', args: ['-db', '-f', join(folder, 'database.cfg')] }
		await cluster.#parts.start('haproxy', { ...haproxy, isReady: () => cluster.#leadsToPrimary() })
		// Patroni has made the role of the standbys.
		const roles = readFileSync(join(folder, 'roles.sql'), 'utf8').replace(/^.*replicator.*\n/m, '')
		execFileSync('psql', ['--quiet', '--set=ON_ERROR_STOP=1', cluster.url('postgres', 'postgres')], { input: roles })
		return cluster
	}

	url(role = 'remit', database = 'remit'): string {
		return `postgres://${role}:${role}-password@127.0.0.1:${this.#files.ports.database}/${database}`
	}

	/** Kills what runs on the machine of the primary, and has it come back after a while; resolves when it follows the other member. */
	async killThePrimary(): Promise<void> {
		const lost = await this.#primary()
		const ended = this.#parts.stop(lost, 'SIGKILL')
		this.#signal(lost, 'SIGKILL')
		// PostgreSQL has the output of Patroni, too.
		await ended
		await sleep(awayMs)
		await this.#parts.restart(lost)
		await this.#until(lost, 'sync')
	}

	/** Freezes PostgreSQL of the primary's machine, and Patroni there or not, and thaws it after a while; resolves when it follows. */
	async freezeThePrimary(what: { withPatroni: boolean }): Promise<void> {
		const frozen = await this.#primary()
		const postmaster = this.#pidOf(frozen)
		const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
			if (what.withPatroni) this.#parts.signal(frozen, name)
			signalTree(postmaster, name)
		}
		signal('SIGSTOP')
		await sleep(awayMs)
		if (!(await this.#is(frozen === 'one' ? 'two' : 'one', 'primary'))) throw new Error(`no member took the lead of ${frozen}`)
		signal('SIGCONT')
		await this.#until(frozen, 'sync')
	}

	async stop(): Promise<void> {
		const ended = this.#parts.stopAll()
		for (const member of members) if (existsSync(this.#pidFileOf(member))) this.#signal(member, 'SIGQUIT')
		await ended
	}

	async #primary(): Promise<Member> {
		for (const name of members) if (await this.#is(name, 'primary')) return name
		throw new Error('Patroni calls no member the primary')
	}

	#pidOf(member: Member): number {
		return Number(readFileSync(this.#pidFileOf(member), 'utf8').split('\n', 1)[0])
	}

	#signal(member: Member, signal: NodeJS.Signals): void {
		process.kill(this.#pidOf(member), signal)
	}

	#start(member: Member): Promise<void> {
		const isReady = () => isOk(`http://127.0.0.1:${this.#files.ports[`patroni-${member}`]}/liveness`)
		return this.#parts.start(member, {
			command: 'patroni',
			args: [join(this.#files.folder, `patroni-${member}.yml`)],
			user,
			isReady,
		})
	}

	/** What has lost its way is copied anew. */
	async #until(member: Member, what: 'primary' | 'sync'): Promise<void> {
		for (const began = performance.now(); !(await this.#is(member, what)); await sleep(100))
			if (performance.now() - began > patienceMs) throw new Error(`${member} is not ${what}`)
	}

	#is(member: Member, what: 'primary' | 'sync'): Promise<boolean> {
		return isOk(`http://127.0.0.1:${this.#files.ports[`patroni-${member}`]}/${what}`)
	}

	#pidFileOf = (member: Member) => join(this.#files.folder, `patroni-${member}`, 'postmaster.pid')

	/** As the guide says. */
	#writeSecond(): void {
		const { folder, ports } = this.#files
		const second = readFileSync(join(folder, 'patroni-one.yml'), 'utf8')
			.replaceAll('name: one', 'name: two')
			.replaceAll('patroni-one', 'patroni-two')
			.replaceAll(String(ports['patroni-one']), String(ports['patroni-two']))
			.replaceAll(String(ports['member-one']), String(ports['member-two']))
		writeFileSync(join(folder, 'patroni-two.yml'), second)
	}

	/** HAProxy takes every member for the primary until it has asked. */
	async #leadsToPrimary(): Promise<boolean> {
		const state = await (await fetch(`http://127.0.0.1:${this.#files.ports['database-state']}/;csv`)).text()
		return /^database,one,.*,UP,/m.test(state) && /^database,two,.*,DOWN,/m.test(state)
	}
}

const isOk = async (url: string) => (await fetch(url).catch(() => undefined))?.ok === true

interface Load {
	/** Of a server on the cluster. */
	readonly url: string
	readonly keys: readonly string[]
	readonly receiver: Receiver
}

const losses = [
	{ what: 'it dies', lose: (cluster: PatroniCluster) => cluster.killThePrimary() },
	{ what: 'it freezes', lose: (cluster: PatroniCluster) => cluster.freezeThePrimary({ withPatroni: true }) },
	{ what: 'PostgreSQL alone freezes', lose: (cluster: PatroniCluster) => cluster.freezeThePrimary({ withPatroni: false }) },
] as const

export async function loseThePrimary({ rounds }: Run, cluster: PatroniCluster, { url, keys, receiver }: Load): Promise<void> {
	title(`With Patroni the machine of the primary is gone for ${awayMs / 1_000} s, under load, ${rounds} times`)
	const lines: string[][] = []
	for (let round = 1; round <= rounds; round++)
		for (const { what, lose } of losses) {
			const clients = new Clients(url, keys)
			clients.begin()
			await sleep(3_000)
			const lost = performance.now()
			await lose(cluster)
			await sleep(3_000)
			await clients.end()
			const found = await audit(cluster.url(), clients, receiver)
			const seconds = clients.pauseOfWrites(lost)
			const wrong = [found.lost, found.doubled, clients.oldReads, found.numbers, found.undelivered]
			const figures = [seconds.toFixed(1), ...[clients.requests, clients.failed.length, ...wrong].map(String)]
			const isRight = wrong.every((count) => count === 0) && seconds <= mostSeconds
			lines.push([what, ...figures, check(`the primary of Patroni, ${what}: ${figures}`, isRight)])
		}
	const counts = ['requests', 'of them failed', 'lost', 'doubled', 'old reads', 'wrong numbers', 'events not delivered', '']
	table(['', 's without a write', ...counts], lines)
}
