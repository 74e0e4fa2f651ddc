// Builds dist/esm and dist/cjs, each with its code and the declarations: whether a .d.ts is ESM or CJS follows from the
// package.json of its folder.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'

const here = import.meta.dirname
const dist = join(here, 'dist')
const require = createRequire(import.meta.url)

const options = {
	bundle: true,
	// Names stay, which `inspect` and stack traces show: bundlers shorten them for those who count bytes.
	minifySyntax: true,
	minifyWhitespace: true,
	// Node prints the line that threw before the message of an error that nobody catches.
	lineLimit: 120,
	sourcemap: true,
	platform: 'neutral',
	mainFields: ['module', 'main'],
	target: 'es2022',
	// openapi-fetch is bundled, and its MIT licence must come with every copy.
	banner: { js: '/*! Contains openapi-fetch: see dist/LICENSE-openapi-fetch */' },
	absWorkingDir: here,
} as const satisfies BuildOptions

const entries = ['index', 'core', 'webhooks', 'testing']

/** The entries share their code in files of their own, so that a class is one class wherever it is imported from. */
const esm = () =>
	build({ ...options, entryPoints: entries.map((name) => `src/${name}.ts`), outdir: 'dist/esm', format: 'esm', splitting: true })

/**
 * One file for what programs use: nobody counts the bytes of a `require`, and esbuild shares no code between files of this format. The
 * examples for tests stand apart.
 */
async function cjs(): Promise<void> {
	const contents = "export * from './index.ts'\nexport * from './core.ts'"
	await build({ ...options, stdin: { contents, resolveDir: join(here, 'src') }, outfile: 'dist/cjs/index.js', format: 'cjs' })
	for (const name of ['core', 'webhooks'])
		writeFileSync(join(dist, 'cjs', `${name}.js`), "module.exports = require('./index.js')\n")
	await build({ ...options, entryPoints: ['src/testing.ts'], outfile: 'dist/cjs/testing.js', format: 'cjs' })
}

/** The code that a bundler takes of the built package for these imports, and minifies. */
async function sizeOf(imports: string): Promise<number> {
	const { sourcemap, banner, lineLimit, ...rest } = options
	const stdin = { contents: imports, resolveDir: join(dist, 'esm') }
	const { outputFiles } = await build({ ...rest, minify: true, stdin, format: 'esm', write: false, logLevel: 'error' })
	return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}

/** What one pays at most, in bytes after gzip. */
const budgets: Record<string, [imports: string, most: number]> = {
	everything: ["export * from './index.js'", 11_300],
	'core and one resource': ["export { Core, CompaniesResource } from './core.js'", 7_700],
	'verifying webhooks': ["export { verifyWebhook } from './webhooks.js'", 1_500],
}

async function checkSizes(): Promise<void> {
	for (const [name, [imports, most]] of Object.entries(budgets)) {
		const size = await sizeOf(imports)
		console.log(`@remit/sdk, ${name}: ${size} bytes gzipped (at most ${most})`)
		if (size > most) process.exitCode = 1
	}
}

/** An error that nobody catches must show its message on the first screen of a terminal. */
function checkUncaughtErrors(): void {
	const programs = {
		esm: "import { Remit } from './dist/esm/index.js'; new Remit({ apiKey: 'rmt_x', baseUrl: 'x' })",
		cjs: "const { Remit } = require('./dist/cjs/index.js'); new Remit({ apiKey: 'rmt_x', baseUrl: 'x' })",
	}
	for (const [format, program] of Object.entries(programs)) {
		const type = format === 'esm' ? 'module' : 'commonjs'
		const { stderr } = spawnSync(process.execPath, [`--input-type=${type}`, '--eval', program], { cwd: here, encoding: 'utf8' })
		const before = stderr.indexOf('RemitError: baseUrl must be')
		if (before >= 0 && before < 1_000) continue
		console.log(`@remit/sdk, ${format}: the message of an uncaught error stands behind ${before} characters of code`)
		process.exitCode = 1
	}
}

function declarations(): void {
	const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
	execFileSync(process.execPath, [tsc, '-p', join(here, 'tsconfig.build.json')], { stdio: 'inherit' })
	const esm = join(dist, 'esm')
	for (const file of readdirSync(esm, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'))) {
		const text = readFileSync(join(esm, file), 'utf8')
		// tsc keeps the file extensions of imports in declarations.
		const rewritten = text.replace(/(from\s+'|import\(')(\.{1,2}\/[^']+)\.ts'/g, "$1$2.js'")
		if (/openapi-fetch|\.ts['"]/.test(rewritten)) throw new Error(`${file} names openapi-fetch or a source file`)
		for (const folder of ['esm', 'cjs']) {
			const target = join(dist, folder, file)
			mkdirSync(dirname(target), { recursive: true })
			writeFileSync(target, rewritten)
		}
	}
}

rmSync(dist, { recursive: true, force: true })
await Promise.all([esm(), cjs()])
for (const [folder, type] of Object.entries({ esm: 'module', cjs: 'commonjs' }))
	writeFileSync(join(dist, folder, 'package.json'), `${JSON.stringify({ type, sideEffects: false })}\n`)
declarations()
cpSync(join(dirname(require.resolve('openapi-fetch')), '../LICENSE'), join(dist, 'LICENSE-openapi-fetch'))
await checkSizes()
checkUncaughtErrors()
