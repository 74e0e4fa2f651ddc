// Builds the pages into dist/: Vite's files, a copy of index.html for each address that names the files of its page, and each of
// them compressed once. Does nothing when nothing has changed since the last build.
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build as viteBuild } from 'vite'
import { assertBudgets, filesOf, type Manifest, pagesIn } from './budget.ts'

const here = import.meta.dirname
const dist = join(here, 'dist')
const compressed = /\.(js|css|html|svg|json)$/

/** The server finds the pages by this list. */
export interface BuiltPages {
	/** Each address of the application, without `/app`, and the copy of index.html for it. */
	readonly pages: readonly { readonly path: string; readonly file: string }[]
	readonly files: readonly string[]
}

export async function build(): Promise<void> {
	const inputs = hashOfInputs()
	if (readIfThere(join(dist, '.inputs')) === inputs) return
	rmSync(dist, { recursive: true, force: true })
	await viteBuild({ root: here, logLevel: 'warn', configFile: join(here, 'vite.config.ts') })
	const manifest: Manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))
	const pages = writePages(manifest)
	rmSync(join(dist, '.vite'), { recursive: true })
	const files = globSync('**/*.*', { cwd: dist, exclude: (name) => name === 'pages' || name === 'index.html' })
	const list: BuiltPages = { pages, files: files.filter((file) => /\.\w+$/.test(file)).toSorted() }
	await Promise.all([...list.files, ...new Set(pages.map(({ file }) => file))].map(compress))
	writeFileSync(join(dist, 'pages.json'), `${JSON.stringify(list)}\n`)
	rmSync(join(dist, 'index.html'))
	console.log(assertBudgets(manifest, dist))
	writeFileSync(join(dist, '.inputs'), inputs)
}

/** Whatever the result depends on: the sources here and those of the SDK, and the versions of packages. */
function hashOfInputs(): string {
	const files = [
		...globSync(['src/**/*.{ts,tsx,css}', '*.{ts,json,html}'], { cwd: here, exclude: (name) => name.endsWith('.test.ts') }),
		...globSync('../sdk/src/**/*.ts', { cwd: here, exclude: (name) => name.endsWith('.test.ts') }),
		'../../pnpm-lock.yaml',
	]
	const hash = createHash('sha256')
	for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(join(here, file)))
	return hash.digest('hex')
}

/** So that the browser asks for the files of a page before the script of all pages has run. */
function writePages(manifest: Manifest): BuiltPages['pages'] {
	const html = readFileSync(join(dist, 'index.html'), 'utf8')
	const routes = pagesIn(readFileSync(join(here, 'src/routes.ts'), 'utf8'))
	mkdirSync(join(dist, 'pages'))
	return routes.map(({ path, source }, index) => {
		const known = new Set([...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href]) => href))
		const links = filesOf(manifest, source)
			.map((file) => [`/app/${file}`, file] as const)
			.filter(([href]) => !known.has(href))
			.map(([href, file]) =>
				file.endsWith('.css')
					? `<link rel="stylesheet" crossorigin href="${href}">`
					: `<link rel="modulepreload" crossorigin href="${href}">`,
			)
		const file = `pages/${index}.html`
		writeFileSync(join(dist, file), stylesFirst(html.replace('</head>', `${links.join('')}</head>`)))
		return { path, file }
	})
}

/** The frame is drawn as soon as the styles are there, so the scripts must not take the line from them. */
const stylesFirst = (html: string) =>
	html
		.replaceAll('rel="modulepreload"', 'rel="modulepreload" fetchpriority="low"')
		.replace('type="module"', 'type="module" fetchpriority="low"')

async function compress(file: string): Promise<void> {
	if (!compressed.test(file)) return
	const bytes = readFileSync(join(dist, file))
	const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
	const [br, gz] = await Promise.all([promisify(brotliCompress)(bytes, { params }), promisify(gzip)(bytes, { level: 9 })])
	writeFileSync(join(dist, `${file}.br`), br)
	writeFileSync(join(dist, `${file}.gz`), gz)
}

function readIfThere(file: string): string | undefined {
	try {
		return readFileSync(file, 'utf8')
	} catch {
		return undefined
	}
}

if (import.meta.main) await build()
