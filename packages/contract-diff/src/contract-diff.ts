// Compares two versions of the contract and prints the verdict (breaking, additive or none), the version bump that follows from
// it, and a changelog. docs/contract-diff.md has the rules and the limits.
import { parseArgs } from 'node:util'
import { ContractError, get, type Obj, text } from './document.ts'
import { compareDocuments } from './operations.ts'
import { changelog, type Diff, summarize } from './report.ts'
import { newestRelease, readBase, readHead } from './sources.ts'
import { carries, nextVersion } from './versions.ts'

const USAGE = `node packages/contract-diff/src/contract-diff.ts [--base <file-or-git-ref>] [--head <file>] [--json] [--check]

  --base   the contract to compare with; default: spec/openapi.yaml at the newest tag v*
  --head   the current contract; default: spec/openapi.yaml
  --json   the result as JSON instead of a changelog in Markdown
  --check  exit 1 when info.version is lower than the changes require
`

/** Compares two parsed OpenAPI 3.1 documents. Pure: reads no file and prints nothing. */
export function diffContracts(base: Obj, head: Obj): Diff {
	return summarize(versionOf(base), versionOf(head), compareDocuments(base, head))
}

function versionOf(document: Obj): string {
	return text(get(document.info, 'version')) ?? 'unknown'
}

function options(args: string[]) {
	try {
		return parseArgs({
			args,
			options: {
				base: { type: 'string' },
				head: { type: 'string', default: 'spec/openapi.yaml' },
				json: { type: 'boolean', default: false },
				check: { type: 'boolean', default: false },
				help: { type: 'boolean', default: false },
			},
		}).values
	} catch (error) {
		throw new ContractError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
	}
}

function shortfall(diff: Diff): string | undefined {
	if (carries(diff.baseVersion, diff.headVersion, diff.bump)) return undefined
	const least = nextVersion(diff.baseVersion, diff.bump)
	return `the changes are ${diff.verdict}: info.version must go from ${diff.baseVersion} to ${least} at least, it is ${diff.headVersion}`
}

function run(args: string[]): number {
	const { base, head, json, check, help } = options(args)
	if (help) {
		process.stdout.write(USAGE)
		return 0
	}
	const from = base ?? newestRelease()
	if (from === undefined) {
		const note = 'no release yet: nothing to compare with'
		process.stdout.write(json ? `${JSON.stringify({ verdict: 'none', bump: 'none', changes: [], note })}\n` : `${note}\n`)
		return 0
	}
	const diff = diffContracts(readBase(from), readHead(head))
	process.stdout.write(json ? `${JSON.stringify({ base: from, head, ...diff }, null, 2)}\n` : changelog(diff))
	const fault = check ? shortfall(diff) : undefined
	if (fault !== undefined) process.stderr.write(`${fault}\n`)
	return fault === undefined ? 0 : 1
}

if (import.meta.main) {
	try {
		process.exitCode = run(process.argv.slice(2))
	} catch (error) {
		if (!(error instanceof ContractError)) throw error
		process.stderr.write(`contract-diff: ${error.message.split('\n')[0]}\n`)
		process.exitCode = 2
	}
}
