// A fake vendor in a process of its own, for tests in several processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Commands } from './control.ts'

export class VendorProcess {
	readonly url: string
	readonly token: string
	readonly settings: Readonly<Record<string, string>>
	readonly #process: ChildProcess

	private constructor(process: ChildProcess, { url, token, settings }: Pick<VendorProcess, 'url' | 'token' | 'settings'>) {
		this.#process = process
		this.url = url
		this.token = token
		this.settings = settings
	}

	static async start(vendor: 'hubspot' | 'xero' | 'stripe'): Promise<VendorProcess> {
		const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), vendor], {
			stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
		})
		const [line] = await once(createInterface(child.stdout as Readable), 'line')
		return new VendorProcess(child, JSON.parse(line))
	}

	async control<Name extends keyof Commands>(
		name: Name,
		args: Parameters<Commands[Name]>[0],
	): Promise<Awaited<ReturnType<Commands[Name]>>> {
		const answer = await fetch(`${this.url}/__control/${name}`, { method: 'POST', body: JSON.stringify(args) })
		const text = await answer.text()
		if (!answer.ok) throw new Error(text)
		return JSON.parse(text)
	}

	async stop(): Promise<void> {
		this.#process.kill('SIGTERM')
		await once(this.#process, 'exit')
	}
}
