// `pnpm mutants [--context x] [--kind y] [--id z]` makes one small bug after the other in a work tree beside this one, and tells for which no
// test fails.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { transform } from 'esbuild'
import { type Mutant, mutantsOf, mutated, projectOf } from './mutants.ts'
import { newTree } from './tree.ts'

/** Broken: no test said anything about it. */
type Fate = { end: 'killed' | 'survived' | 'stale' | 'broken'; why: string }

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())

async function fateOf(mutant: Mutant, folder: string): Promise<Fate> {
	const text = mutated(mutant, folder)
	if (text === undefined) return { end: 'stale', why: `\`find\` does not occur once in ${mutant.file}` }
	const fault = await syntaxFault(mutant.file, text)
	if (fault) return { end: 'broken', why: fault }
	const path = join(folder, mutant.file)
	const original = readFileSync(path, 'utf8')
	writeFileSync(path, text)
	try {
		return await fateBy(mutant, folder)
	} finally {
		writeFileSync(path, original)
	}
}

async function syntaxFault(file: string, text: string): Promise<string | undefined> {
	const loader = /\.([jt]sx?)$/.exec(file)?.[1] as 'js' | 'jsx' | 'ts' | 'tsx' | undefined
	if (!loader) return undefined
	return transform(text, { loader, logLevel: 'silent' }).then(
		() => undefined,
		({ message }) => message,
	)
}

async function fateBy(mutant: Mutant, folder: string): Promise<Fate> {
	for (const file of mutant.killedBy) {
		const fate = await runTests(file, projectOf(file, mutant), folder)
		if (fate.end !== 'survived') return fate
	}
	return { end: 'survived', why: mutant.killedBy.join(', ') }
}

type Report = {
	success: boolean
	testResults: { message: string; assertionResults: { status: string; fullName: string }[] }[]
}

async function runTests(file: string, project: string, folder: string): Promise<Fate> {
	const report = join(folder, 'node_modules/.report.json')
	rmSync(report, { force: true })
	const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/vitest.config.ts', '--root', '.', '--bail', '1']
	const args = [...vitest, '--reporter', 'json', '--outputFile', report, '--mode', 'all', '--project', project, file]
	// A bug may have a loop without end.
	const options = { cwd: folder, signal: stop.signal, timeout: 600_000 }
	const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
	let said = ''
	for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
	// That it was stopped is an error to Node.
	child.on('error', () => {})
	await new Promise((ended) => child.on('close', ended))
	if (!existsSync(report)) return { end: 'broken', why: `Vitest gave no report:\n${said.slice(-2_000)}` }
	return fateIn(JSON.parse(readFileSync(report, 'utf8')))
}

/** A test file that cannot be loaded, or a hook that fails, fails no test. */
function fateIn({ success, testResults }: Report): Fate {
	const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
	const failed = tests.find(({ status }) => status === 'failed')
	if (failed) return { end: 'killed', why: failed.fullName }
	if (success && tests.some(({ status }) => status === 'passed')) return { end: 'survived', why: '' }
	return { end: 'broken', why: testResults.map(({ message }) => message).find(Boolean) ?? 'no test ran' }
}

async function runAll(mutants: readonly Mutant[], folder: string): Promise<(Fate & { id: string })[]> {
	const fates = []
	for (const mutant of mutants) {
		const began = performance.now()
		const fate = await fateOf(mutant, folder)
		if (stop.signal.aborted) break
		console.log(`${fate.end} ${mutant.id} (${Math.round((performance.now() - began) / 1_000)} s): ${fate.why}`)
		fates.push({ id: mutant.id, ...fate })
	}
	return fates
}

const summaryOf = (fates: readonly Fate[]) =>
	(['killed', 'survived', 'stale', 'broken'] as const)
		.map((wanted) => `${fates.filter(({ end }) => end === wanted).length} ${wanted}`)
		.join(', ')

function chosen(): Mutant[] {
	const text = { type: 'string' } as const
	try {
		return mutantsOf(parseArgs({ options: { context: text, kind: text, id: text } }).values)
	} catch (error) {
		console.error(`mutants: ${(error as Error).message}`)
		process.exit(2)
	}
}

const mutants = chosen()
const tree = newTree()
try {
	console.log(`${mutants.length} mutants of ${tree.of}`)
	const fates = await runAll(mutants, tree.folder)
	for (const { id, end } of fates) if (end !== 'killed') console.log(`${end}: ${id}`)
	console.log(summaryOf(fates))
	if (stop.signal.aborted) console.log(`stopped before the other ${mutants.length - fates.length}`)
	process.exitCode = fates.filter(({ end }) => end === 'killed').length === mutants.length ? 0 : 1
} finally {
	tree.remove()
}
