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

const folder = newFolder('load')
const script = join(import.meta.dirname, 'load.lua')

function wrk(url: string, key: string, { method, paths, body = '' }: Load, { connections, seconds }: Pace): Promise<Driven> {
	const [pathsFile, bodyFile] = [join(folder, 'paths'), join(folder, 'body')]
	writeFileSync(pathsFile, `${paths.join('\n')}\n`)
	writeFileSync(bodyFile, body)
	const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url, '--']
	const child = spawn(preferred, [...options, pathsFile, method, key, bodyFile], { stdio: ['ignore', 'pipe', 'inherit'] })
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

async function cannon(url: string, key: string, { method, paths, body }: Load, { connections, seconds }: Pace): Promise<Driven> {
	const headers: Record<string, string> = { authorization: `Bearer ${key}` }
	if (body !== undefined) headers['content-type'] = 'application/json'
	const requests = paths.slice(0, mostRequests).map((path) => ({ method, path, headers, body }))
	const result = await autocannon({ url, connections, duration: seconds, requests })
	const { p50, p99 } = result.latency
	return { requests: result.requests.total, seconds: result.duration, p50, p99, failed: result.errors + result.non2xx }
}
