// Imports run one way: platform ← accounts ← billing, integration ← app (docs/rooms.md). A failure names the line to fix.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

/** Each context, and those that it may know; `generated/` is open to all. */
const knows: Record<string, readonly string[]> = {
	platform: [],
	accounts: ['platform'],
	billing: ['platform', 'accounts'],
	integration: ['platform', 'accounts'],
	app: ['platform', 'accounts', 'billing', 'integration'],
}
const src = join(import.meta.dirname, '../src')
const files = globSync('**/*.ts', { cwd: src, exclude: ['**/*.test.ts', '**/samples.ts', 'generated/**', '*/migrations/**'] })
const lines = files.flatMap((file) => {
	const paths = readFileSync(join(src, file), 'utf8').matchAll(/\b(?:from|import) ?\(?'(\.[^']+)'/g)
	return [...paths].map(([, path = '']) => [file, relative(src, join(src, dirname(file), path))] as const)
})
/** Files of src/ itself are of the app. */
const contextOf = (file: string) => (file.includes('/') ? (file.split('/')[0] as string) : 'app')
const roomOf = (file: string) => (file.split('/').length > 2 ? file.split('/').slice(0, 2).join('/') : file)

function circleIn(edges: readonly (readonly [string, string])[]): string | undefined {
	const next = Map.groupBy(edges, ([from]) => from)
	const done = new Set<string>()
	const from = (one: string, path: readonly string[]): string | undefined => {
		if (path.includes(one)) return [...path.slice(path.indexOf(one)), one].join(' → ')
		if (done.has(one)) return undefined
		done.add(one)
		return next
			.get(one)
			?.map(([, other]) => from(other, [...path, one]))
			.find(Boolean)
	}
	return [...next.keys()].map((one) => from(one, [])).find(Boolean)
}

it('A context imports itself and what it knows', () => {
	const isAllowed = (own: string, theirs: string) => own === theirs || theirs === 'generated' || knows[own]?.includes(theirs)
	const wrong = lines.filter(([file, other]) => !other.startsWith('..') && !isAllowed(contextOf(file), contextOf(other)))
	expect(wrong.map(([file, other]) => `${file} → ${other}`)).toEqual([])
})

it('Neither rooms nor files import each other in a circle, and a folder has at most 14 files', () => {
	expect(circleIn(lines)).toBeUndefined()
	const rooms = lines.map(([file, other]) => [roomOf(file), roomOf(other)] as const)
	expect(circleIn(rooms.filter(([room, other]) => room !== other))).toBeUndefined()
	const folders = Map.groupBy(files, (file) => dirname(file))
	expect([...folders].filter(([, own]) => own.length > 14).map(([folder]) => folder)).toEqual([])
})
