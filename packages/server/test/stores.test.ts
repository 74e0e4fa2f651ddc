// Who may build a query, write a record, load a driver (docs/rooms.md). A failure names the line to fix.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

/** The only rooms that load the packages which open connections or database files. */
const drivers: Record<string, RegExp> = {
	'better-sqlite3': /^platform\/db\//,
	pg: /^platform\/db\//,
	undici: /^platform\/outside\//,
	'openid-client': /^platform\/outside\//,
	nodemailer: /^platform\/outside\//,
	stripe: /^platform\/outside\//,
	ioredis: /^platform\/auth\/rate-limit/,
}

const src = join(import.meta.dirname, '../src')
const textOf = (file: string) => readFileSync(join(src, file), 'utf8')
const files = globSync('**/*.ts', { cwd: src, exclude: ['**/*.test.ts', '**/samples.ts', 'generated/**'] })
const pathsIn = (text: string) => [...text.matchAll(/\b(?:from|import) ?\(?'([^']+)'/g)].map(([, path = '']) => path)
/** Files of src/ that a file imports; types count as well. */
const importsOf = (file: string) =>
	pathsIn(textOf(file)).flatMap((path) => (path.startsWith('.') ? relative(src, join(src, dirname(file), path)) : []))

it('Queries are built in *store.ts alone', () => {
	const builders = files.filter((file) => /import \{[^}]*\bquery\b[^}]*\} from '[^']*db\/database\.ts'/.test(textOf(file)))
	expect(builders.filter((file) => !file.endsWith('store.ts'))).toEqual([])
})

it('A record is written by the room of its store alone: others go through create…, change… and remove…', () => {
	const stores = files.flatMap((file) =>
		[...textOf(file).matchAll(/export const (\w+) = records</g)].map(([, name = '']) => ({ name, room: dirname(file) })),
	)
	expect(stores.length).toBeGreaterThan(5)
	const strangers = files.flatMap((file) =>
		stores
			.filter(({ room }) => dirname(file) !== room)
			.flatMap(({ name }) => [
				...textOf(file).matchAll(new RegExp(`(?<!\\bremit\\.)\\b${name}\\.(insert|update|remove)\\(`, 'g')),
			])
			.map(([call]) => `${file}: ${call}…)`),
	)
	expect(strangers).toEqual([])
})

it('Handlers are imported by part.ts alone: another room uses the store or the rule beside them', () => {
	const users = files.flatMap((file) =>
		importsOf(file)
			.filter((other) => /(^|\/|-)handlers\.ts$/.test(other) && !other.startsWith('platform/http/'))
			.filter((other) => file !== `${other.split('/')[0]}/part.ts`)
			.map((other) => `${file} → ${other}`),
	)
	// The platform is no part: the app itself lists its handlers.
	expect(users).toEqual(['operations.ts → platform/audit/handlers.ts', 'operations.ts → platform/events/handlers.ts'])
})

it('Only the rooms for it load a database driver or open a connection', () => {
	const strangers = files.flatMap((file) =>
		pathsIn(textOf(file).replaceAll(/^import type .*$/gm, '')).flatMap((path) =>
			drivers[path]?.test(file) === false ? `${file} → ${path}` : [],
		),
	)
	expect(strangers).toEqual([])
})

it('A migration imports nothing of src/: it must mean the same in ten years', () => {
	const folder = join(src, '../migrations')
	const imports = globSync('*.ts', { cwd: folder }).flatMap((file) => pathsIn(readFileSync(join(folder, file), 'utf8')))
	expect(imports.filter((path) => path.includes('src/'))).toEqual([])
})
