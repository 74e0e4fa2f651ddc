// Imports run one way through the rooms of src/ (docs/rooms.md). A failure names the line to fix.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

/** The rooms of src/ from the ground up. A file imports from its own room and from lower floors, not from its own floor. */
const floors = [
	['generated'],
	['base', 'log', 'rendering/words', 'third-party'],
	['rendering', 'contract', 'invoices/pricing', 'connections/providers', 'mappings/engine'],
	['rendering/pages', 'rendering/pdf', 'db/files', 'db/postgres'],
	['db', 'outside/mail', 'outside/payments'],
	['outside/traces', 'db/drivers'],
	['outside'],
	['auth', 'outside/providers'],
	['work', 'lists', 'search'],
	['http'],
	['http/steps'],
	['events', 'mails'],
	['audit', 'search/hits'],
	['companies', 'invoices/numbers', 'invoices/reading'],
	['contacts'],
	['deals'],
	['organizations'],
	['api-keys', 'connections', 'people', 'reports', 'tax-rates', 'time-entries', 'webhooks'],
	['webhooks/engine', 'sessions', 'ledger', 'connections/links', 'connections/records', 'connections/webhooks'],
	['invoices'],
	['invoices/sharing', 'payments', 'mappings'],
	['invoices/payments', 'syncs', 'syncs/records', 'mappings/preview'],
	['syncs/run'],
	['syncs/engine', 'syncs/decisions', 'syncs/jobs'],
	['hosted', 'web', 'docs', 'demo', 'erase', 'metrics'],
	['commands'],
	['commands/shell'],
	['commands/remote'],
	['commands/contract'],
	['.'],
]

/** The only rooms that load the packages which open connections or database files. */
const drivers: Record<string, RegExp> = {
	'better-sqlite3': /^db\//,
	pg: /^db\//,
	undici: /^outside\//,
	'openid-client': /^outside\//,
	nodemailer: /^outside\//,
	stripe: /^outside\//,
	ioredis: /^auth\/rate-limit/,
}

const src = join(import.meta.dirname, '../src')
const textOf = (file: string) => readFileSync(join(src, file), 'utf8')
const files = globSync('**/*.ts', { cwd: src, exclude: ['**/*.test.ts', '**/samples.ts', 'generated/**'] })
const pathsIn = (text: string) => [...text.matchAll(/\b(?:from|import) ?\(?'([^']+)'/g)].map(([, path = '']) => path)
/** Files of src/ that a file imports; types count as well. */
const importsOf = (file: string) =>
	pathsIn(textOf(file)).flatMap((path) => (path.startsWith('.') ? relative(src, join(src, dirname(file), path)) : []))
const floorOf = (file: string) => floors.findIndex((rooms) => rooms.includes(dirname(file)))

it('Every file stands in a room that the list of floors has', () => {
	expect(files.filter((file) => floorOf(file) < 0)).toEqual([])
})

it('A room holds at most 14 source files: cut the larger one by what its files are about', () => {
	const rooms = Map.groupBy(files, (file) => dirname(file))
	expect([...rooms].filter(([, own]) => own.length > 14).map(([room, own]) => `${room}: ${own.length} files`)).toEqual([])
})

it('A file imports its own room and lower floors: move what both need down, or hand it in from above', () => {
	const isDown = (file: string, other: string) =>
		dirname(other) === dirname(file) ||
		(floorOf(other) >= 0 && floorOf(other) < floorOf(file)) ||
		other === '../migrations/index.ts'
	const upward = files.flatMap((file) => importsOf(file).flatMap((other) => (isDown(file, other) ? [] : `${file} → ${other}`)))
	expect(upward).toEqual([])
})

it('No file imports itself by way of others', () => {
	const done = new Set<string>()
	const circleFrom = (file: string, path: readonly string[]): string | undefined => {
		if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(' → ')
		if (done.has(file) || !files.includes(file)) return undefined
		const circle = importsOf(file).map((other) => circleFrom(other, [...path, file]))
		done.add(file)
		return circle.find((found) => found !== undefined)
	}
	expect(files.flatMap((file) => circleFrom(file, []) ?? [])).toEqual([])
})

it('Queries are built in *store.ts and db/ alone', () => {
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

it('Handlers are imported by operations.ts alone: another room uses the store or the rule beside them', () => {
	const users = files.filter((file) =>
		importsOf(file).some((other) => /(^|\/|-)handlers\.ts$/.test(other) && !other.startsWith('http/')),
	)
	expect(users).toEqual(['operations.ts'])
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
