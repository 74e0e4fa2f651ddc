// The configuration that the guide shows, in a folder of its own, with free ports in place of the guide's.
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { atEnd } from '../resources.ts'

const source = join(import.meta.dirname, 'config')
const folderOfGuide = '/srv/remit'

/** The ports in the guide, by what listens there. */
const guide = {
	...{ haproxy: 8080, state: 8404, one: 3001, two: 3002, three: 3003, 'worker-one': 3004, 'worker-two': 3005 },
	...{ pgbouncer: 6432, primary: 5433, standby: 5434, redis: 6380 },
	...{ etcd: 2379, 'etcd-peers': 2380, 'patroni-one': 8008, 'patroni-two': 8009 },
	...{ database: 5440, 'database-state': 8405, 'member-one': 5441, 'member-two': 5442 },
} as const

export type Port = keyof typeof guide
export type Ports = Readonly<Record<Port, number>>

/** Neither PostgreSQL nor PgBouncer runs as root. */
export const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined

function idOf(option: '-u' | '-g'): number {
	return Number(spawnSync('id', [option, 'postgres']).stdout)
}

export interface Files {
	readonly folder: string
	readonly ports: Ports
	/** The settings of each server. */
	readonly env: Readonly<Record<string, string>>
	/** Runs one of the guide's commands. */
	run(command: string, ...args: string[]): Promise<void>
	/** The guide's command, to be run by something else. */
	command(name: string): string
}

const readable = (text: string) =>
	text
		.split('\n')
		.flatMap((line) => (line.includes('=') ? [[line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]] : []))

export async function writeFiles(encryptionKey: string): Promise<Files> {
	const folder = mkdtempSync(join(tmpdir(), 'remit-stack-'))
	atEnd(() => rmSync(folder, { recursive: true, force: true }))
	const free = await freePorts(Object.keys(guide).length)
	const ports = Object.fromEntries(Object.keys(guide).map((name, index) => [name, free[index]])) as Record<Port, number>
	const portOf = new Map(Object.entries(guide).map(([name, port]) => [String(port), String(ports[name as Port])]))
	const numbers = new RegExp(`\\b(${[...portOf.keys()].join('|')})\\b`, 'g')
	const own = (text: string) => text.replaceAll(folderOfGuide, folder).replace(numbers, (port) => portOf.get(port) as string)
	const write = (name: string, text: string, mode = 0o600) => {
		writeFileSync(join(folder, name), own(text), { mode })
		if (user) chownSync(join(folder, name), user.uid, user.gid)
	}
	for (const name of readdirSync(source))
		write(name, readFileSync(join(source, name), 'utf8'), name.endsWith('.sh') ? 0o700 : 0o600)
	if (user) chownSync(folder, user.uid, user.gid)
	chmodSync(folder, 0o700)
	const env = Object.fromEntries(readable(readFileSync(join(folder, 'remit.env'), 'utf8')))
	const environment = { PATH: process.env.PATH, PGPASSFILE: join(folder, 'pgpass') }
	return {
		folder,
		ports,
		env: { ...env, ENCRYPTION_KEYS: encryptionKey, DATA_DIR: join(folder, 'data') },
		command: (name) => join(folder, name),
		async run(command, ...args) {
			await promisify(execFile)(join(folder, command), args, { env: environment, cwd: folder, ...user })
		},
	}
}

async function freePorts(count: number): Promise<number[]> {
	const servers = await Promise.all(
		Array.from({ length: count }, () => {
			const { promise, resolve } = Promise.withResolvers<ReturnType<typeof createServer>>()
			const server = createServer().listen(0, '127.0.0.1', () => resolve(server))
			return promise
		}),
	)
	const ports = servers.map((server) => (server.address() as AddressInfo).port)
	await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))))
	return ports
}
