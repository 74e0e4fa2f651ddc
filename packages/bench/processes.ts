// Runs servers as child processes, pinned to core 0; this process and its load driver are pinned to core 1. The cost of a request
// is the CPU time that the kernel charged to all threads of the server's process meanwhile.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { atEnd } from './resources.ts'

export interface Server {
	readonly name: string
	readonly url: string
	/** CPU time so far, in µs. */
	cpuMicros(): number
	/** CPU time of its threads so far, in ms: finer, and without that of threads that have ended. */
	cpuMs(): number
	/** Resident memory, in MB. */
	rssMegabytes(): number
	stop(): Promise<void>
}

const succeeds = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** Whether the servers and the driver are pinned to a core each. */
export const pinned = availableParallelism() > 1 && succeeds('taskset', '-c', '0,1', process.execPath, '-v')

/** Moves this process, and what it starts from now on, to these cores. */
export function pin(cores: string): void {
	if (pinned) succeeds('taskset', '-a', '-c', '-p', cores, String(process.pid))
}

export const driverCore = '1'

pin(driverCore)

/** A tick of the times in /proc, in µs: Linux counts 100 ticks a second for user space. */
const tickMicros = 10_000

/** Starts a program that prints `{"url": …}` as a line, perhaps after lines of its log, and discards the rest of its output. */
export async function startServer(
	name: string,
	args: readonly string[],
	env: Record<string, string> = {},
	cores = '0',
): Promise<Server> {
	const command = [...(pinned ? ['taskset', '-c', cores] : []), process.execPath, ...args]
	const child = spawn(command[0] as string, command.slice(1), {
		env: { ...cleanEnv(), ...memory, ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
	})
	const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
	const stop = () => {
		child.kill('SIGKILL')
		return exited
	}
	atEnd(stop)
	const url = await printedUrl(name, child)
	const stat = () =>
		readFileSync(`/proc/${child.pid}/stat`, 'utf8')
			.replace(/^.*\) /, '')
			.split(' ')
	const status = () => readFileSync(`/proc/${child.pid}/status`, 'utf8')
	return {
		name,
		url,
		cpuMicros: () => (Number(stat()[11]) + Number(stat()[12])) * tickMicros,
		cpuMs: () => threadsMs(child.pid as number),
		rssMegabytes: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(status())?.[1]) / 1024,
		stop,
	}
}

/** What the production guide sets. */
const memory = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '262144' }
/** Linux counts the time of a thread in ns. */
function threadsMs(pid: number): number {
	const times = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'))
	return times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0)
}

/** The environment without the settings of the user that would change the results. */
function cleanEnv(): NodeJS.ProcessEnv {
	const { NODE_OPTIONS: _options, NODE_ENV: _env, DATABASE_URL: _database, LOG_LEVEL: _level, ...rest } = process.env
	return { ...rest, NODE_ENV: 'production' }
}

function printedUrl(name: string, child: ChildProcess): Promise<string> {
	return new Promise((found, failed) => {
		let output = ''
		let errors = ''
		let isFound = false
		child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
			if (isFound) return
			output += chunk
			const line = output.split('\n').find((line) => line.startsWith('{"url"') && line.endsWith('}'))
			if (!line) return
			isFound = true
			found((JSON.parse(line) as { url: string }).url)
		})
		child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
			errors = (errors + chunk).slice(-4_000)
		})
		child.once('error', failed)
		child.once('close', (code) => failed(new Error(`${name} ended with ${code} before it served:\n${output}${errors}`)))
	})
}
