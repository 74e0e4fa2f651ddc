// Compares the contract with its newest release, a tag v*: its version must be high enough for what changed, and CHANGELOG.md says
// what did. Writes the changelog; with --check it fails where it would.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { run } from '@remit/contract-diff'
import { parse } from 'yaml'

const CONTRACT = 'spec/openapi.yaml'
const CHANGELOG = 'CHANGELOG.md'
const check = process.argv.includes('--check')

const release = newestRelease()
if (release === undefined) beforeTheFirst()
else {
	const options = ['--format', 'markdown', '--changelog', CHANGELOG, ...(check ? ['--check'] : [])]
	process.exitCode = await run([`${release}:${CONTRACT}`, CONTRACT, ...options], 'contract-version')
}

/** The highest `v1.2.3` tag, a pre-release below its release. */
function newestRelease(): string | undefined {
	const args = ['-c', 'versionsort.suffix=-', 'tag', '--list', 'v[0-9]*', '--sort=-version:refname']
	return execFileSync('git', args, { encoding: 'utf8' })
		.split('\n')
		.find((tag) => tag !== '')
}

function beforeTheFirst(): void {
	const { version } = parse(readFileSync(CONTRACT, 'utf8')).info
	const first = `# Changelog of the contract

Sections are written by \`node tools/contract-version.ts\`, the [contract diff](packages/contract-diff/README.md). Changes of documentation alone are not listed.

## ${version}

The first version.
`
	const written = existsSync(CHANGELOG) ? readFileSync(CHANGELOG, 'utf8') : ''
	const headings = written.match(/^## \S+/gm) ?? []
	if (written === first) console.log(`${version} is the first version: nothing to compare with`)
	else if (headings.length > 1) fail(`${CHANGELOG} tells of releases, and this clone has no tag v*: git fetch --tags`)
	else if (check) fail(`${CHANGELOG} does not tell of ${version}: run node tools/contract-version.ts`)
	else writeFileSync(CHANGELOG, first)
}

function fail(reason: string): void {
	console.error(`contract-version: ${reason}`)
	process.exitCode = 1
}
