// Runs the command `remit` as a process, as users do.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { freePort } from './free-port.ts'
import { watch } from './leaks.ts'

/** The command: in a few files (tools/bundle-command.ts), or from its source. */
export const cli = process.env.TEST_COMMAND ?? fileURLToPath(new URL('../src/cli.ts', import.meta.url))

export type Environment = Record<string, string>

const { PATH, NODE_COMPILE_CACHE } = process.env
/** What every process gets of the environment of the tests. */
export const inherited = { PATH, NODE_COMPILE_CACHE }

/** A busy machine is no overload, and no database that does not answer. */
const busyMachine = { SHED_ABOVE_DELAY_MS: '60000', DATABASE_CONNECT_SECONDS: '60', DATABASE_QUERY_SECONDS: '60' }

export interface Result {
	readonly code: number | null
	readonly stdout: string
	readonly stderr: string
}

export interface Served {
	readonly url: string
	/** The key of the demo organization, when one was created. */
	readonly key: string | undefined
	/** The page by which the first person comes in, while nobody can sign in. */
	readonly setupUrl: string | undefined
	readonly pid: number
	/** The lines that the server has printed so far. */
	lines(): string[]
	/** Sends the signal; returns how the process ended. */
	end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<[code: number | null, signal: string | null]>
}

export interface Begun {
	/** The whole lines that the command has printed so far. */
	lines(): string[]
	/** What it has written to standard error. */
	errors(): string
	/** Sends the signal; returns how the process ended. */
	end(signal: 'SIGTERM' | 'SIGINT'): Promise<[code: number | null, signal: string | null]>
}

/** Runs the command for a test file: every process gets the environment, and a working folder outside the repository. */
export class Remit {
	readonly env: Environment
	readonly #folder: string
	readonly #program: string
	readonly #running = new Set<ChildProcess>()

	/** `program`: the command of another version. */
	constructor(env: Environment, folder: string, program = cli) {
		this.env = env
		this.#folder = folder
		this.#program = program
	}

	#start(args: readonly string[], environment: Environment, stdout: 'pipe' | number = 'pipe', input?: string): ChildProcess {
		const child = spawn(process.execPath, [this.#program, ...args], {
			cwd: this.#folder,
			env: { ...inherited, PORT: '0', LOG_LEVEL: 'silent', ...busyMachine, ...this.env, ...environment },
			stdio: [input === undefined ? 'ignore' : 'pipe', stdout, 'pipe'],
		})
		// The command may end without reading it.
		child.stdin?.on('error', () => {}).end(input)
		this.#running.add(child)
		watchOutput(child, args)
		child.once('exit', () => this.#running.delete(child))
		return child
	}

	async run(args: readonly string[], environment: Environment = {}, input?: string): Promise<Result> {
		const child = this.#start(args, environment, 'pipe', input)
		let [stdout, stderr] = ['', '']
		child.stdout?.setEncoding('utf8').on('data', (text) => {
			stdout += text
		})
		child.stderr?.setEncoding('utf8').on('data', (text) => {
			stderr += text
		})
		const [code] = await once(child, 'close')
		return { code, stdout, stderr }
	}

	/** Runs a command that ends only by a signal. */
	begin(args: readonly string[], environment: Environment = {}): Begun {
		const child = this.#start(args, environment)
		let [stdout, stderr] = ['', '']
		child.stdout?.setEncoding('utf8').on('data', (text) => {
			stdout += text
		})
		child.stderr?.setEncoding('utf8').on('data', (text) => {
			stderr += text
		})
		const lines = () => stdout.split('\n').slice(0, -1)
		return { lines, errors: () => stderr, end: (signal) => endOf(child, signal) }
	}

	async json(args: readonly string[], environment: Environment = {}) {
		const { code, stdout, stderr } = await this.run([...args, '--json'], environment)
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
		return JSON.parse(stdout)
	}

	async serve(environment: Environment = {}, args: readonly string[] = []): Promise<Served> {
		const child = this.#start(['serve', '--json', ...args], environment)
		let text = ''
		const first = Promise.withResolvers<{ url: string; key?: string; setupUrl?: string }>()
		child.stdout?.setEncoding('utf8').on('data', (data) => {
			text += data
			const line = text.split('\n').find((printed) => printed.startsWith('{"url"') && printed.endsWith('}'))
			if (line) first.resolve(JSON.parse(line))
		})
		child.once('exit', (code) => first.reject(new Error(`remit serve ended with ${code}: ${text}`)))
		const { url, key, setupUrl } = await first.promise
		const pid = child.pid as number
		return { url, key, setupUrl, pid, lines: () => text.trim().split('\n'), end: (signal) => endOf(child, signal) }
	}

	/** Serves with standard output to a file descriptor, so that the test decides who reads it. */
	async serveInto(stdout: number, environment: Environment = {}): Promise<Pick<Served, 'url' | 'end'>> {
		const port = await freePort()
		const child = this.#start(['serve', '--json'], { PORT: String(port), ...environment }, stdout)
		const url = `http://127.0.0.1:${port}`
		while (!(await fetch(`${url}/health`).catch(() => undefined))?.ok) {
			if (child.exitCode !== null) throw new Error(`remit serve ended with ${child.exitCode}`)
			await sleep(20)
		}
		return { url, end: (signal) => endOf(child, signal) }
	}

	/** Kills the processes that tests left running. */
	stop(): void {
		for (const child of this.#running) child.kill('SIGKILL')
	}
}

/** Looks through what a command prints. */
function watchOutput({ stdout, stderr }: ChildProcess, args: readonly string[]): void {
	for (const stream of [stdout, stderr]) {
		const pieces: string[] = []
		stream?.on('data', (piece) => pieces.push(String(piece)))
		stream?.once('close', () => watch(`remit ${args.join(' ')}`, pieces.join('')))
	}
}

async function endOf(child: ChildProcess, signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL') {
	const ended = once(child, 'close')
	child.kill(signal)
	return (await ended) as Awaited<ReturnType<Served['end']>>
}

/** Expects the command to fail with a line that says what is wrong, and without a stack trace. */
export function expectRefusal({ code, stdout, stderr }: Result, line: RegExp): void {
	expect(stderr.split('\n', 1)[0]).toMatch(line)
	expect(code).toBeGreaterThan(0)
	expect(stdout).toBe('')
	expect(stderr).not.toMatch(/\n\s+at |node_modules|Error:/)
}
