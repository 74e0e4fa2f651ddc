// Builds dist/: the compiled server, its own assets, and what it needs of packages that are too large to install whole.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fontFiles } from './src/platform/third-party/fonts.ts'
import { swaggerFiles } from './src/platform/third-party/swagger-ui.ts'

const here = import.meta.dirname
const require = createRequire(import.meta.url)

const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
execFileSync(process.execPath, [tsc, '--project', join(here, 'tsconfig.build.json')], { stdio: 'inherit' })
for (const file of globSync('src/{platform/typeset/*.typ,platform/rendering/pages/*.css,app/docs/*.{css,js}}', { cwd: here }))
	cpSync(join(here, file), join(here, 'dist', file))

const licences = new Set(fontFiles.map((file) => file.replace(/[^/]+\/[^/]+$/, 'LICENSE_FONT')))
const swagger = ['package.json', ...Object.keys(swaggerFiles)].map((name) => `swagger-ui-dist/${name}`)
for (const file of [...fontFiles, ...licences, ...swagger]) {
	const copy = join(here, 'dist/third-party', file)
	mkdirSync(dirname(copy), { recursive: true })
	cpSync(require.resolve(file), copy)
}
