// Makes a few files of the command `remit` for the processes that tests start: each would else load hundreds of modules from the sources,
// which takes a third of the CPU of a start.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const server = join(import.meta.dirname, '../packages/server')

/** Files beside a module, such as a worker's, a style sheet or a package, are found from where its source is. */
const placeOfSource: Plugin = {
	name: 'place of the source',
	setup({ onLoad }) {
		onLoad({ filter: /\/packages\/[^/]+\/(src|migrations)\/.*\.ts$/ }, ({ path }) => ({
			loader: 'ts',
			contents: readFileSync(path, 'utf8')
				.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
				.replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
		}))
	},
}

/** What the server uses of other packages stays as it is, but for Knex, which loads 255 files of Lodash. */
const othersStay: Plugin = {
	name: 'other packages stay',
	setup({ onResolve }) {
		onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
			importer.startsWith(`${server}/src/`) && !/^(@remit\/|knex$)/.test(path) ? { path, external: true } : undefined,
		)
	},
}

/** A global set-up of Vitest: once a run, whichever projects it has. */
export default async function setup() {
	if (process.env.TEST_COMMAND) return
	const folder = join(server, 'node_modules/.cache/command')
	mkdirSync(folder, { recursive: true })
	const { outputFiles } = await build({
		entryPoints: { remit: join(server, 'src/cli.ts') },
		outdir: folder,
		bundle: true,
		write: false,
		// A command loads only what it needs.
		splitting: true,
		outExtension: { '.js': '.mjs' },
		platform: 'node',
		format: 'esm',
		target: 'node24',
		conditions: ['remit-source'],
		// The other databases of Knex are not installed.
		external: ['better-sqlite3', 'mariadb', 'mysql', 'mysql2', 'oracledb', 'pg', 'pg-query-stream', 'sqlite3', 'tedious'],
		banner: { js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)` },
		plugins: [placeOfSource, othersStay],
		logLevel: 'warning',
	})
	process.env.TEST_COMMAND = join(folder, 'remit.mjs')
	// The names of the other parts go by what is in them, since another run of the tests may use the folder too: those of its version stay
	// for a day.
	for (const { path, contents } of outputFiles.toSorted((a) => (a.path === process.env.TEST_COMMAND ? 1 : -1))) {
		writeFileSync(`${path}-${process.pid}`, contents)
		renameSync(`${path}-${process.pid}`, path)
	}
	for (const name of readdirSync(folder)) {
		const path = join(folder, name)
		if (statSync(path).mtimeMs < Date.now() - 86_400_000) rmSync(path)
	}
}
