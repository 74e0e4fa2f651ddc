// Sends requests as fast as the server answers them: with wrk, which takes little CPU beside the server, or with autocannon where
// wrk is not installed.
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { atEnd, newFolder } from './resources.ts'

/** Requests of one kind, to these paths in turn, again and again. */
export interface Load {
	readonly method: 'GET' | 'POST'
	readonly paths: readonly string[]
	readonly body?: string
	/** The keys that the requests carry in turns; absent for that of the run. */
	readonly keys?: readonly string[]
}

export interface Driven {
	readonly requests: number
	readonly seconds: number
	/** Latency in ms. */
	readonly p50: number
	readonly p99: number
	/** Answers that were not a success, and broken connections. */
	readonly failed: number
}

export interface Pace {
	readonly connections: number
	readonly seconds: number
}

const preferred = 'wrk'

/** The program that sends the load. */
export const driver = spawnSync(preferred, ['-v'], { stdio: 'ignore' }).error ? 'autocannon' : preferred

export async function drive(url: string, key: string, load: Load, pace: Pace): Promise<Driven> {
	const driven = await (driver === preferred ? wrk(url, key, load, pace) : cannon(url, key, load, pace))
	if (driven.requests === 0) throw new Error(`${url} answered nothing`)
	return driven
}

/** By all servers at once, which share the connections. Throws when a request fails. */
export async function driveAll(servers: readonly { readonly url: string }[], key: string, load: Load, pace: Pace) {
	const connections = Math.ceil(pace.connections / servers.length)
	const driven = await Promise.all(servers.map(({ url }) => drive(url, key, load, { ...pace, connections })))
	const sum = (figure: (driven: Driven) => number) => driven.reduce((total, each) => total + figure(each), 0)
	const failed = sum(({ failed }) => failed)
	if (failed > 0) throw new Error(`${failed} requests failed: ${load.method} ${load.paths[0]}`)
	return { requests: sum(({ requests }) => requests), perSecond: sum(({ requests, seconds }) => requests / seconds) }
}

const folder = newFolder('load')
/** Each run of wrk has files of its own: two may run at once. */
let runs = 0
const script = join(import.meta.dirname, 'load.lua')

function wrk(
	url: string,
	key: string,
	{ method, paths, body = '', keys = [key] }: Load,
	{ connections, seconds }: Pace,
): Promise<Driven> {
	const fileOf = (name: string) => join(folder, `${name}-${runs}`)
	const [pathsFile, keysFile, bodyFile] = [fileOf('paths'), fileOf('keys'), fileOf('body')]
	runs++
	writeFileSync(pathsFile, `${paths.join('\n')}\n`)
	writeFileSync(keysFile, `${keys.join('\n')}\n`)
	writeFileSync(bodyFile, body)
	const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url, '--']
	const child = spawn(preferred, [...options, pathsFile, method, keysFile, bodyFile], { stdio: ['ignore', 'pipe', 'inherit'] })
	atEnd(() => child.kill('SIGKILL'))
	return new Promise((resolve, reject) => {
		let output = ''
		child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
			output += chunk
		})
		child.once('error', reject)
		child.once('close', (code) => {
			const result = /^\{.*\}$/m.exec(output)?.[0]
			if (code === 0 && result) resolve(JSON.parse(result))
			else reject(new Error(`wrk ended with ${code}: ${output}`))
		})
	})
}

/** autocannon prepares every request for each connection, so that more would cost it too much memory and time. */
const mostRequests = 500

async function cannon(url: string, key: string, load: Load, { connections, seconds }: Pace): Promise<Driven> {
	const { method, paths, body, keys = [key] } = load
	const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
	const requests = keys
		.flatMap((key) =>
			paths.map((path) => ({
				method,
				path,
				headers: { authorization: `Bearer ${key}`, 'user-agent': 'Mozilla/5.0', ...type },
				body,
			})),
		)
		.slice(0, mostRequests)
	const result = await autocannon({ url, connections, duration: seconds, requests })
	const { p50, p99 } = result.latency
	return { requests: result.requests.total, seconds: result.duration, p50, p99, failed: result.errors + result.non2xx }
}
