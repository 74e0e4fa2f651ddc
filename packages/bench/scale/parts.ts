// The processes of the stack, each started again when it ends by itself, as a process manager does.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { atEnd } from '../resources.ts'

export interface Command {
	readonly command: string
	readonly args: readonly string[]
	readonly env?: Readonly<Record<string, string>>
	/** The user that runs it; absent for that of the script. */
	readonly user?: { readonly uid: number; readonly gid: number } | undefined
	/** Whether it does its work. */
	readonly isReady: () => Promise<boolean>
}

interface Part {
	readonly command: Command
	child: ChildProcess
	isWanted: boolean
	ended: Promise<void>
	output: string
}

/** How long after its end a process is started again. */
const restMs = 1_000
const patienceMs = 90_000

export class Parts {
	readonly #parts = new Map<string, Part>()

	constructor() {
		atEnd(() => this.stopAll())
	}

	/** Resolves when it is ready. */
	async start(name: string, command: Command): Promise<void> {
		this.#spawn(name, command)
		await this.ready(name)
	}

	/** Sends a signal; a process that ends by it is started again. */
	signal(name: string, signal: NodeJS.Signals): void {
		this.#part(name).child.kill(signal)
	}

	/** Sends the signal, and resolves when the process has ended for good. */
	async stop(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
		const part = this.#part(name)
		part.isWanted = false
		part.child.kill(signal)
		await part.ended
	}

	/** The last of what it wrote. */
	output(name: string): string {
		return this.#part(name).output
	}

	/** Starts what was stopped. */
	restart(name: string): Promise<void> {
		return this.start(name, this.#part(name).command)
	}

	async ready(name: string): Promise<void> {
		const began = performance.now()
		while (
			!(await this.#part(name)
				.command.isReady()
				.catch(() => false))
		) {
			if (performance.now() - began > patienceMs) throw new Error(`${name} is not ready:\n${this.#part(name).output}`)
			await sleep(50)
		}
	}

	async stopAll(): Promise<void> {
		await Promise.all([...this.#parts.keys()].map((name) => this.stop(name, 'SIGKILL')))
	}

	#part(name: string): Part {
		const part = this.#parts.get(name)
		if (!part) throw new Error(`there is no ${name}`)
		return part
	}

	#spawn(name: string, command: Command): void {
		const { args, env = {}, user } = command
		const child = spawn(command.command, args, {
			env: { PATH: process.env.PATH, ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
			...user,
		})
		const ended = Promise.withResolvers<void>()
		const part: Part = { command, child, isWanted: true, ended: ended.promise, output: '' }
		this.#parts.set(name, part)
		for (const stream of [child.stdout, child.stderr])
			stream?.setEncoding('utf8').on('data', (text: string) => {
				part.output = (part.output + text).slice(-4_000)
			})
		child.once('error', (error) => {
			part.output += String(error)
		})
		child.once('close', async () => {
			ended.resolve()
			await sleep(restMs)
			if (part.isWanted) this.#spawn(name, command)
		})
	}
}

/** Stops a process and what it has begun, or lets them go on. */
export function signalTree(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
	process.kill(pid, signal)
	spawnSync('pkill', [`-${signal.slice(3)}`, '-P', `${pid}`])
}
