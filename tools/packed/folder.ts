// The packages as a stranger gets them: packed, and installed into an empty folder. The checks share the folder that
// REMIT_PACKED_FOLDER names; a check that is run by itself makes one of its own. `pnpm build` comes first.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

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

/** The packed package, such as `sdk`. */
export function tarball(name: string): string {
	const file = join(shared, `remit-${name}-${manifestOf(name).version}.tgz`)
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
 * A folder with packages of ours, and others by their exact versions. They come from the registry, or from pnpm's store, which has most
 * of them already: npm would copy 200 MB each time.
 */
export function install(name: string, packages: readonly string[], others: Readonly<Record<string, string>> = {}): string {
	const folder = join(shared, name)
	if (existsSync(join(folder, 'node_modules'))) return folder
	mkdirSync(folder, { recursive: true })
	const dependencies = { ...Object.fromEntries(places(packages)), ...others }
	writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }, null, '\t'))
	// Ours are not in the registry yet.
	const overrides = places(closure(packages)).map(([own, place]) => `  "${own}": "${place}"\n`)
	writeFileSync(join(folder, 'pnpm-workspace.yaml'), `overrides:\n${overrides.join('')}strictDepBuilds: false\n`)
	pnpm(folder, 'install', '--prod', '--prefer-offline', '--no-lockfile')
	return folder
}
