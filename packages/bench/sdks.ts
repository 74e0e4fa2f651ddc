// Measures the SDK beside those of Stripe, OpenAI and Svix, each installed into an empty folder, and prints a table in Markdown:
// `pnpm build && node packages/bench/sdks.ts`. Every cell is run, none is read off a page.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Behaviour, behaviourOf, failures } from './sdks/behaviour.ts'
import { type Sdk, sdks } from './sdks/clients.ts'
import { type Shown, shownBy } from './sdks/types.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-sdks-'))
const sdkFolder = resolve(import.meta.dirname, '../sdk')

interface Measured {
	readonly sdk: Sdk
	readonly installed: string
	readonly bundle: string
	readonly seconds: string
	readonly behaviour: Behaviour
	readonly shown: Shown
}

const quietly = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const

function install(): readonly Sdk[] {
	execFileSync('npx', ['-y', 'pnpm@12.21.0', 'pack', '--pack-destination', folder], { ...quietly, cwd: sdkFolder })
	const [archive = ''] = readdirSync(folder)
	const all = sdks(`./${archive}`)
	writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
	const tools = ['esbuild@0.28.2', 'typescript@7.0.2', '@types/node@24']
	const packages = [...all.map((sdk) => sdk.install), ...tools]
	execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages], quietly)
	return all
}

/** The package and what comes with it, in an empty folder of its own. */
function installedSize({ install: wanted }: Sdk): string {
	const alone = mkdtempSync(join(folder, 'alone-'))
	writeFileSync(join(alone, 'package.json'), '{"private":true}')
	const place = wanted.startsWith('./') ? join(folder, wanted) : wanted
	execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--omit=peer', place], { ...quietly, cwd: alone })
	const kilobytes = Number(execFileSync('du', ['-sk', 'node_modules'], { ...quietly, cwd: alone }).split('\t')[0])
	return `${(kilobytes / 1024).toFixed(1)} MB`
}

/** The program with one call, bundled for Node and minified, after gzip. */
function bundleSize(sdk: Sdk, file: string): string {
	const args = [file, '--bundle', '--minify', '--format=esm', '--platform=node', '--log-level=error']
	const code = execFileSync(join(folder, 'node_modules/.bin/esbuild'), args, { cwd: folder, maxBuffer: 1e9 })
	if (code.length === 0) throw new Error(`${sdk.name} makes no bundle`)
	return `${(gzipSync(code, { level: 9 }).length / 1024).toFixed(1)} KiB`
}

/** The median of five checks of the program by TypeScript 7. */
function checkTime(file: string): string {
	const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--types', 'node']
	const times = Array.from({ length: 5 }, () => {
		const begun = performance.now()
		execFileSync(join(folder, 'node_modules/.bin/tsc'), [...options, file], quietly)
		return performance.now() - begun
	})
	return `${((times.sort((left, right) => left - right)[2] ?? 0) / 1000).toFixed(2)} s`
}

async function measure(sdk: Sdk, behaviour: Promise<Behaviour>): Promise<Measured> {
	const file = `${sdk.name.replaceAll(/\W+/g, '')}.mts`
	writeFileSync(join(folder, file), sdk.program)
	return {
		sdk,
		behaviour: await behaviour,
		installed: installedSize(sdk),
		bundle: bundleSize(sdk, file),
		seconds: checkTime(file),
		shown: shownBy(sdk, folder),
	}
}

const cell = (text: string) => text.replaceAll('|', '\\|')
const row = (name: string, cells: readonly string[]) => `| ${[name, ...cells].map(cell).join(' | ')} |`

function table(all: readonly Measured[]): string {
	const of = (name: string, value: (measured: Measured) => string) => row(name, all.map(value))
	const tries = ({ read, create }: { read: number; create: number }) => `${read} / ${create}`
	return [
		row(
			'',
			all.map(({ sdk }) => `${sdk.name} ${sdk.install.startsWith('./') ? '' : sdk.install.split('@').at(-1)}`.trim()),
		),
		row(
			'---',
			all.map(() => '---'),
		),
		of('installed', ({ installed }) => installed),
		of('program with one call, bundled, gzipped', ({ bundle }) => bundle),
		of('`tsc` of that program', ({ seconds }) => seconds),
		...failures.map((failure) =>
			of(`requests of a read / a create that always gets ${failure === 'cut' ? 'a cut connection' : failure}`, ({ behaviour }) =>
				tries(behaviour.tries[failure] ?? { read: 0, create: 0 }),
			),
		),
		of('Idempotency-Key over the tries of a create', ({ behaviour }) => behaviour.key),
		of('wait after `Retry-After: 1`', ({ behaviour }) => behaviour.wait),
		of('all pages of a list', ({ behaviour }) => behaviour.paging),
		of('404', ({ behaviour }) => behaviour.error),
		of('type of the error’s code', ({ shown }) => `\`${shown.code.replaceAll(/\s+/g, ' ')}\``),
		...[0, 1, 2, 3, 4].map((at) =>
			of(`an editor at field ${at + 1}`, ({ shown }) => {
				const { field, text } = shown.hovers[at] ?? { field: '', text: '' }
				return `\`${field}\`: ${text === '' ? '–' : text.length > 160 ? `${text.slice(0, 159)}…` : text}`
			}),
		),
	].join('\n')
}

try {
	const all = install()
	const behaviours = all.map((sdk) => behaviourOf(sdk, folder))
	await Promise.all(behaviours)
	const measured: Measured[] = []
	for (const [at, sdk] of all.entries()) measured.push(await measure(sdk, behaviours[at] as Promise<Behaviour>))
	console.log(table(measured))
} finally {
	rmSync(folder, { recursive: true, force: true })
}
