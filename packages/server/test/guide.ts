// The commands of a guide in docs/guides, to run them as a reader would.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { cli, type Environment, type Result } from './remit.ts'

const guides = new URL('../../../docs/guides/', import.meta.url)

/** The blocks of one language under a heading of the guide. */
export function blocksOf(guide: string, heading: string, language = 'sh'): string[] {
	const page = readFileSync(new URL(`${guide}.md`, guides), 'utf8')
	const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
	return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code = '']) =>
		found === language ? [code] : [],
	)
}

/** A folder that stands for the machine of the guide: its paths are below it, and `remit` is on its PATH. */
export class GuideMachine {
	readonly root: string
	readonly #env: Environment

	constructor(root: string, env: Environment) {
		this.root = root
		mkdirSync(join(root, 'bin'), { recursive: true })
		writeFileSync(join(root, 'bin/remit'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`)
		chmodSync(join(root, 'bin/remit'), 0o755)
		this.#env = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, PORT: '0', LOG_LEVEL: 'silent', ...env }
	}

	/** Runs blocks in one shell, with /var and /etc of the guide inside the folder. */
	async run(blocks: readonly string[], env: Environment = {}): Promise<Result> {
		const script = blocks.join('\n').replaceAll(/(?<![\w.])\/(var|etc)\//g, `${this.root}/$1/`)
		const shell = spawn('bash', ['--norc', '-c', `set -e\n${script}`], {
			cwd: this.root,
			env: { ...this.#env, ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
		})
		const [stdout, stderr, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
		return { code, stdout, stderr }
	}
}
