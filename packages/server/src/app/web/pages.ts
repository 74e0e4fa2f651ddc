// The built pages of packages/web, read once: each file in memory, compressed as the build left it.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Encoding, type StaticContent, versionOf } from '../../platform/http/steps/static-answer.ts'

export interface WebPages {
	/** The page of an address below `/app`, such as `/companies/cmp_1`. */
	readonly pageOf: (path: string) => StaticContent
	/** The file of a path below `/app/`, such as `assets/main-x7.js`. */
	readonly files: ReadonlyMap<string, StaticContent>
}

/** What packages/web/build.ts lists in pages.json. */
interface Built {
	readonly pages: readonly { readonly path: string; readonly file: string }[]
	readonly files: readonly string[]
}

/** Undefined when the pages are not built. */
export function readPages(folder = builtFolder()): WebPages | undefined {
	const list = join(folder, 'pages.json')
	if (!existsSync(list)) return undefined
	const { pages, files }: Built = JSON.parse(readFileSync(list, 'utf8'))
	const patterns = pages.map(({ path, file }) => ({ pattern: patternOf(path), page: readFile(join(folder, file)) }))
	const other = readFile(join(folder, (pages[0] as Built['pages'][number]).file))
	return {
		pageOf: (path) => patterns.find(({ pattern }) => pattern.test(path))?.page ?? other,
		files: new Map(files.map((file) => [file, readFile(join(folder, file))])),
	}
}

const builtFolder = () => join(dirname(createRequire(import.meta.url).resolve('@remit/web/package.json')), 'dist')

/** `/companies/$id` matches `/companies/cmp_1`. */
const patternOf = (path: string) => new RegExp(`^${path.replace(/\/$/, '').replaceAll(/\$\w+/g, '[^/]+')}/?$`)

function readFile(path: string): StaticContent {
	if (!existsSync(`${path}.br`)) {
		const bytes = readFileSync(path)
		return { version: versionOf(bytes), isCompressed: false, encoded: () => bytes }
	}
	const [br, gzip] = [readFileSync(`${path}.br`), readFileSync(`${path}.gz`)]
	// Nearly every browser takes brotli, so the plain text is not worth its memory.
	const encoded = (encoding: Encoding) => (encoding === 'br' ? br : encoding === 'gzip' ? gzip : gunzipSync(gzip))
	return { version: versionOf(gzip), isCompressed: true, encoded }
}
