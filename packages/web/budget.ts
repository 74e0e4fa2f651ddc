// What a cold visit of each page costs, gzipped, and how much it may.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Chunk {
	readonly file: string
	readonly src?: string
	readonly isEntry?: boolean
	readonly imports?: readonly string[]
	readonly css?: readonly string[]
}

/** Vite's manifest: the chunks by the source file that each began with. */
export type Manifest = Readonly<Record<string, Chunk>>

/** Kilobytes of scripts by the address, and what pages without a line may have. */
const budgets: Readonly<Record<string, number>> = {
	'/': 132,
	'/invoices': 145,
	'/invoices/$id': 157,
	'/companies': 145,
	'/contacts': 145,
	'/deals': 151,
	'/time': 155,
	'/tax-rates': 145,
}
const budgetOfAll = 187
const budgetOfStyles = 12

/** The addresses of the application and the file of each one's page, as routes.ts names them. */
export function pagesIn(routes: string): { path: string; source: string }[] {
	const found = routes.matchAll(/\bpage\(\s*'([^']+)',\s*\(\) => import\('\.\/([^']+)'\)/g)
	return [...found].map(([, path = '', file = '']) => ({ path, source: `src/${file}` }))
}

/** The files that a visit of the page loads first: those of the entry, of the page, and what both import. */
export function filesOf(manifest: Manifest, source: string): string[] {
	const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry)
	const files = new Set<string>()
	const seen = new Set<string>()
	const add = (name: string) => {
		const chunk = manifest[name]
		if (!chunk) throw new Error(`the build has no ${name}`)
		if (seen.has(name)) return
		seen.add(name)
		for (const css of chunk.css ?? []) files.add(css)
		files.add(chunk.file)
		for (const imported of chunk.imports ?? []) add(imported)
	}
	// The styles are one file.
	files.add(manifest['style.css']?.file as string)
	add(entry as string)
	add(source)
	return [...files]
}

/** Throws when a page is above its budget; returns a line for each page. */
export function assertBudgets(manifest: Manifest, dist: string): string {
	const routes = pagesIn(readFileSync(join(import.meta.dirname, 'src/routes.ts'), 'utf8'))
	const size = (file: string) => readFileSync(join(dist, `${file}.gz`)).length / 1024
	const sum = (files: readonly string[]) => files.reduce((total, file) => total + size(file), 0)
	const lines = routes.map(({ path, source }) => {
		const files = filesOf(manifest, source)
		const [scripts, styles] = [
			sum(files.filter((file) => file.endsWith('.js'))),
			sum(files.filter((file) => file.endsWith('.css'))),
		]
		const budget = budgets[path] ?? budgetOfAll
		const line = `${path}: ${scripts.toFixed(1)} KB of scripts (at most ${budget}), ${styles.toFixed(1)} KB of styles (at most ${budgetOfStyles})`
		if (scripts > budget || styles > budgetOfStyles) throw new Error(`the page is above its budget: ${line}`)
		return line
	})
	return lines.join('\n')
}
