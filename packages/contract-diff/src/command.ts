// The command: reads two documents, prints how they differ, and says by its exit code whether that is allowed.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Level } from './change.ts'
import { withSection } from './changelog.ts'
import { diffContracts } from './diff.ts'
import { ContractError } from './document.ts'
import { type Compared, github, lines } from './lines.ts'
import { type Diff, markdown } from './report.ts'
import { readSource } from './sources.ts'
import { carries, nextVersion } from './versions.ts'

const usage = (name: string) => `Usage: ${name} [options] OLD NEW

Compares two OpenAPI 3.1 documents: what breaks callers, and which version follows.
Each is a file, an http(s) URL, REVISION:PATH of git, or - for standard input.

  -f, --format FORMAT   text (default), markdown, json, or github (annotations of a workflow)
  -o, --fail-on LEVEL   exit 1 when a change is at least: breaking, additive, docs
      --check           exit 1 when info.version of NEW is too low for the changes
      --changelog FILE  write what changed as the section of NEW's version into FILE;
                        with --check write nothing, and exit 1 when that is not what FILE says
  -h, --help

Exit codes: 0 compared, 1 a change or version that fails, 2 an argument or document that cannot be read.
`

const formats: Record<string, (compared: Compared) => string> = {
	text: lines,
	markdown: ({ diff }) => markdown(diff),
	json: ({ diff, base, head }) => `${JSON.stringify({ base: base.name, head: head.name, ...diff }, null, 2)}\n`,
	github,
}
const levels: Level[] = ['docs', 'additive', 'breaking']

function optionsOf(args: string[]) {
	try {
		const { values, positionals } = parseArgs({
			args,
			allowPositionals: true,
			options: {
				format: { type: 'string', short: 'f', default: 'text' },
				'fail-on': { type: 'string', short: 'o' },
				check: { type: 'boolean', default: false },
				changelog: { type: 'string' },
				help: { type: 'boolean', short: 'h', default: false },
			},
		})
		return { ...values, positionals }
	} catch (error) {
		throw new ContractError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
	}
}

function requireOneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
	const found = allowed.find((each) => each === value)
	if (found === undefined) throw new ContractError(`${option} ${value}: must be one of ${allowed.join(', ')}`)
	return found
}

/** Runs the command and returns its exit code; `name` is what the user typed. */
export async function run(args: string[], name = 'contract-diff'): Promise<number> {
	try {
		const { positionals, format, check, changelog, help, 'fail-on': failOn } = optionsOf(args)
		if (help) {
			process.stdout.write(usage(name))
			return 0
		}
		const [base, head, ...others] = positionals
		if (base === undefined || head === undefined || others.length > 0)
			throw new ContractError(`needs two documents, OLD and NEW: see ${name} --help`)
		const write = formats[requireOneOf('--format', format, Object.keys(formats))]
		const least = failOn === undefined ? undefined : requireOneOf('--fail-on', failOn, levels)
		const [older, newer] = [await readSource(base), await readSource(head)]
		const diff = diffContracts(older.document, newer.document)
		process.stdout.write(write?.({ diff, base: older, head: newer }) ?? '')
		const faults = [
			least && unwanted(diff, least),
			check ? shortfall(diff) : undefined,
			changelog === undefined ? undefined : recordIn(changelog, diff, check),
		].filter((fault) => fault !== undefined)
		if (changelog !== undefined && !check && diff.headVersion === diff.baseVersion)
			process.stderr.write(`${name}: ${changelog} gets no section: info.version is ${diff.headVersion} in both documents\n`)
		for (const fault of faults) process.stderr.write(`${name}: ${fault}\n`)
		return faults.length > 0 ? 1 : 0
	} catch (error) {
		if (!(error instanceof ContractError)) throw error
		process.stderr.write(`${name}: ${error.message.split('\n')[0]}\n`)
		return 2
	}
}

function unwanted({ changes }: Diff, least: Level): string | undefined {
	const found = changes.filter(({ level }) => levels.indexOf(level) >= levels.indexOf(least))
	if (found.length === 0) return undefined
	return `${found.length} ${found.length === 1 ? 'change is' : 'changes are'} ${least}${least === 'breaking' ? '' : ' or more'}`
}

function shortfall(diff: Diff): string | undefined {
	if (carries(diff.baseVersion, diff.headVersion, diff.bump)) return undefined
	const least = nextVersion(diff.baseVersion, diff.bump)
	return `the changes are ${diff.verdict}: info.version must go from ${diff.baseVersion} to ${least} at least, it is ${diff.headVersion}`
}

function recordIn(file: string, diff: Diff, check: boolean): string | undefined {
	let written = ''
	try {
		written = readFileSync(file, 'utf8')
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new ContractError(`--changelog ${file}: cannot be read`)
	}
	const wanted = withSection(written, diff)
	if (wanted === written) return undefined
	if (check) return `${file} does not say what changed in ${diff.headVersion}: run it without --check to write it`
	writeFileSync(file, wanted)
	return undefined
}
