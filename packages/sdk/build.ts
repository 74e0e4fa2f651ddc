// Builds dist/esm and dist/cjs, each with a bundle and the declarations: whether a .d.ts is ESM or CJS follows from the
// package.json of its folder.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Format } from 'esbuild'

const here = import.meta.dirname
const dist = join(here, 'dist')
const require = createRequire(import.meta.url)

async function bundle(folder: string, format: Format, type: string): Promise<void> {
	await build({
		entryPoints: [join(here, 'src/index.ts')],
		outfile: join(dist, folder, 'index.js'),
		bundle: true,
		format,
		platform: 'neutral',
		mainFields: ['module', 'main'],
		target: 'es2022',
		// openapi-fetch is bundled, and its MIT licence must come with every copy.
		banner: { js: '/*! Contains openapi-fetch: see dist/LICENSE-openapi-fetch */' },
	})
	writeFileSync(join(dist, folder, 'package.json'), `${JSON.stringify({ type, sideEffects: false })}\n`)
	const size = gzipSync(readFileSync(join(dist, folder, 'index.js'))).length
	console.log(`dist/${folder}/index.js ${(size / 1024).toFixed(1)} KB gzipped`)
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
await Promise.all([bundle('esm', 'esm', 'module'), bundle('cjs', 'cjs', 'commonjs')])
declarations()
cpSync(join(dirname(require.resolve('openapi-fetch')), '../LICENSE'), join(dist, 'LICENSE-openapi-fetch'))
