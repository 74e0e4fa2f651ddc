// Runs the tests of docs/guides/testing.md as a reader would: with Vitest, and the packed SDK and server. The check of the examples has
// checked their types.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { examplesFolder } from './folder.ts'

const folder = examplesFolder()
execFileSync('npx', ['--no-install', 'vitest', 'run', '--reporter=default', '--reporter=json', '--outputFile=report.json'], {
	cwd: folder,
	stdio: ['ignore', 'inherit', 'inherit'],
})
const { numPassedTests } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as { numPassedTests: number }
if (numPassedTests !== 4) throw new Error(`the guide has 4 tests, and ${numPassedTests} have run`)
