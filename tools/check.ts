// `pnpm check` runs every check that is not a test. Its last line counts them.
import { exec } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const tool = (name: string) => `tools/node_modules/.bin/${name}`

type Check = readonly [name: string, command: string]

const ofSources: readonly Check[] = [
	['format, lint and import rules', 'biome check --error-on-warnings .'],
	['types', 'tsc --noEmit --project .'],
	['types of the web application', 'tsc --noEmit --project packages/web'],
	['the contract generates what is committed', 'node tools/generate.ts --check'],
	['contract lint', 'node tools/lint-contract.ts'],
	['OpenAPI lint', `${tool('redocly')} lint spec/openapi.yaml --config tools/redocly.yaml`],
	['version and changelog of the contract', 'node --conditions=remit-source tools/contract-version.ts --check'],
	['unused files, exports and dependencies', `${tool('knip')} --config tools/knip.json`],
]

/** The first builds the packages, and those that follow share them and where they are installed. */
const ofPackages: readonly Check[] = [
	['start on an empty folder', 'node tools/smoke.ts'],
	['the packed server', 'node tools/packed/server.ts'],
	['the packed server on the oldest Node and on one before', 'node tools/packed/nodes.ts'],
	['the packages, made and installed as the documents say', 'node tools/packed/documents.ts'],
	['the examples, with the packed SDK', 'node tools/packed/examples.ts'],
	['the packed SDK in every runtime', 'node tools/packed/runtimes.ts'],
	['the packed contract diff', 'node tools/packed/diff.ts'],
	['the contract of the packed server', 'node tools/packed/verify.ts'],
	['the guide on tests, with the packed server', 'node tools/packed/guide.ts'],
	['SDK build', 'pnpm --silent --filter @remit/sdk run build'],
	['SDK packaging', `${tool('publint')} packages/sdk --strict`],
	['server packaging', `${tool('publint')} packages/server --strict`],
	['SDK types for every module system', `${tool('attw')} --pack packages/sdk`],
]

// Keeps the tools from calling home: no telemetry, no look for updates.
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_UPDATE_NOTIFIER: '1' }

/** Where the checks of the packages install them, once for all. */
const REMIT_PACKED_FOLDER = mkdtempSync(join(tmpdir(), 'remit-packed-'))
process.once('exit', () => rmSync(REMIT_PACKED_FOLDER, { recursive: true, force: true }))
const env = { ...process.env, ...quiet, REMIT_PACKED_FOLDER }

const failed: string[] = []

async function inTurn(checks: readonly Check[]): Promise<void> {
	for (const [name, command] of checks) {
		const began = performance.now()
		const failure = await promisify(exec)(command, { cwd: root, env, maxBuffer: Infinity }).then(
			() => undefined,
			({ stdout, stderr }) => `  $ ${command}\n${stdout}${stderr}`,
		)
		console.log(`${failure === undefined ? '✓' : '✗'} ${name} (${Math.round((performance.now() - began) / 1_000)} s)`)
		if (failure === undefined) continue
		failed.push(name)
		console.log(failure.trimEnd().replaceAll('\n', '\n  '))
	}
}

// Those of packages wait for downloads, processes and pages.
await Promise.all([inTurn(ofSources), inTurn(ofPackages)])
console.log(`${ofSources.length + ofPackages.length - failed.length} passed, ${failed.length} failed`)
if (failed.length > 0) process.exit(1)
