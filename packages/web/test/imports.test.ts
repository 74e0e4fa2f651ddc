// Which folder of src/ may import which. A failure names the line to mend.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '../src')
const files = globSync('**/*.{ts,tsx}', { cwd: src, exclude: ['**/*.test.ts'] })
const textOf = (file: string) => readFileSync(join(src, file), 'utf8')
const folderOf = (file: string) => dirname(file).split('/')[0] as string

/** What each folder may import besides itself and its packages; every other folder is a page. */
const allowed: Readonly<Record<string, readonly string[]>> = {
	generated: [],
	ui: [],
	format: ['generated'],
	api: ['generated'],
	forms: ['ui', 'format', 'api', 'generated'],
	shell: ['ui', 'forms', 'format', 'api', '.'],
	'.': ['ui', 'api', 'shell'],
}
const ofPages = ['ui', 'forms', 'format', 'api', 'generated']

const importsOf = (file: string) =>
	[...textOf(file).matchAll(/^import (type )?[^'"]*['"]([^'"]+)['"]/gms)].map(([, type, path = '']) => ({
		isType: Boolean(type),
		path,
	}))

it('A page uses ui, forms, format and api, never another page; ui uses nothing of ours', () => {
	const wrong = files.flatMap((file) =>
		importsOf(file).flatMap(({ path }) => {
			if (!path.startsWith('.')) return []
			const other = relative(src, join(src, dirname(file), path))
			const [from, to] = [folderOf(file), folderOf(other)]
			return from === to || (allowed[from] ?? ofPages).includes(to) ? [] : `${file} → ${other}`
		}),
	)
	expect(wrong).toEqual([])
})

it('Only api loads the SDK; its types go anywhere', () => {
	const wrong = files.filter(
		(file) => folderOf(file) !== 'api' && importsOf(file).some(({ path, isType }) => path === '@remit/sdk' && !isType),
	)
	expect(wrong).toEqual([])
})

it('Only routes.ts loads a page, when it is opened; a page loads its own dialogs', () => {
	const loads = files.flatMap((file) =>
		[...textOf(file).matchAll(/import\('([^']+)'\)/g)].map(([, path = '']) => ({
			file,
			other: relative(src, join(src, dirname(file), path)),
		})),
	)
	const wrong = loads.filter(
		({ file, other }) => file !== 'routes.ts' && folderOf(file) !== folderOf(other) && folderOf(other) !== 'ui',
	)
	expect(wrong).toEqual([])
})

it('A style of a page names a class of it, since the styles of all pages are one file', () => {
	const wrong = globSync('**/*.css', { cwd: src, exclude: ['ui/**'] }).flatMap((file) =>
		[
			...textOf(file)
				.replaceAll(/\/\*.*?\*\/|\([^()]*\)/gs, '')
				.matchAll(/([^{};]+)\{/g),
		]
			.flatMap(([, selectors = '']) => selectors.split(','))
			.map((selector) => selector.trim())
			.filter((selector) => /^[a-z]+[^\s>+~]*$/.test(selector) && !/^(from|to)$/.test(selector))
			.map((selector) => `${file}: ${selector}`),
	)
	expect(wrong).toEqual([])
})
