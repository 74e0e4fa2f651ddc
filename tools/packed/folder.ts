// The packages as a stranger gets them: packed, and installed into an empty folder. The checks share the folder that
// REMIT_PACKED_FOLDER names; a check that is run by itself makes one of its own. `pnpm build` comes first.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

export const root = resolve(import.meta.dirname, '../..')

const shared = process.env.REMIT_PACKED_FOLDER ?? mkdtempSync(join(tmpdir(), 'remit-packed-'))
if (!process.env.REMIT_PACKED_FOLDER) process.once('exit', () => rmSync(shared, { recursive: true, force: true }))

const pnpm = (cwd: string, ...args: string[]) =>
	execFileSync('npx', ['-y', 'pnpm@12.21.0', ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

interface Manifest {
	readonly version: string
	readonly dependencies?: Readonly<Record<string, string>>
}

const manifestOf = (name: string): Manifest => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))

export const versionOf = (name: string) => manifestOf(name).version

/** The packed package, such as `sdk`. */
export function tarball(name: string): string {
	const file = join(shared, `remit-${name}-${versionOf(name)}.tgz`)
	if (!existsSync(file)) pnpm(join(root, 'packages', name), 'pack', '--pack-destination', shared)
	return file
}

/** These packages of ours, and those that they need. */
export function closure(names: readonly string[]): string[] {
	const needed = names.flatMap((name) =>
		Object.keys(manifestOf(name).dependencies ?? {}).flatMap((other) => /^@remit\/(.+)$/.exec(other)?.[1] ?? []),
	)
	return [...new Set([...names, ...(needed.length > 0 ? closure(needed) : [])])]
}

const places = (names: readonly string[]) => names.map((name) => [`@remit/${name}`, `file:${tarball(name)}`] as const)

/**
 * A folder with what its package.json names, of ours and of others. Those come from the registry, or from pnpm's store, which has most of
 * them already: npm would copy 200 MB each time.
 */
export function install(name: string, fill: (folder: string) => void, ...only: readonly string[]): string {
	const folder = join(shared, name)
	if (existsSync(folder)) return folder
	mkdirSync(folder)
	fill(folder)
	// Flat, as npm leaves it. Runtimes have scripts that put their binary in place.
	const rest = 'nodeLinker: hoisted\nstrictDepBuilds: false\nallowBuilds: { bun: true, deno: true, workerd: true }\n'
	// Ours are not in the registry yet.
	const overrides = places(closure(['server', 'sdk'])).map(([own, place]) => `  "${own}": "${place}"\n`)
	writeFileSync(join(folder, 'pnpm-workspace.yaml'), `overrides:\n${overrides.join('')}${rest}`)
	pnpm(folder, 'install', '--prefer-offline', '--no-lockfile', ...only)
	return folder
}

/** The server with its production dependencies alone. */
export const serverFolder = () =>
	install(
		'server',
		(folder) => {
			const dependencies = { '@remit/server': versionOf('server') }
			writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }, null, '\t'))
		},
		'--prod',
	)

/** The examples and the files of the guide on tests, copied to a place of their own. */
export const examplesFolder = () =>
	install('examples', (folder) => {
		cpSync(join(root, 'examples'), folder, { recursive: true, filter: (file) => !file.endsWith('node_modules') })
		const guide = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8')
		for (const [, name = '', code = ''] of guide.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm))
			writeFileSync(join(folder, name), code)
	})

/** A running `remit serve` of the packed server. */
export interface Served {
	readonly url: string
	readonly key: string
	stop(): Promise<void>
}

export async function serve(settings: Readonly<Record<string, string>>): Promise<Served> {
	const folder = serverFolder()
	const server = spawn('npx', ['--no-install', 'remit', 'serve', '--demo', '--json'], {
		cwd: folder,
		env: {
			...{ PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', LOG_LEVEL: 'silent' },
			DATA_DIR: mkdtempSync(join(shared, 'data-')),
			...settings,
		},
		detached: true,
		stdio: ['ignore', 'pipe', 'inherit'],
	})
	const ended = once(server, 'close')
	const [line] = await Promise.race([
		once(createInterface({ input: server.stdout }), 'line'),
		ended.then(([code]) => {
			throw new Error(`remit serve ended with ${code}`)
		}),
	])
	const { url, key } = JSON.parse(line) as { url: string; key: string }
	const stop = async () => {
		if (server.pid) process.kill(-server.pid, 'SIGTERM')
		await ended
	}
	return { url, key, stop }
}
