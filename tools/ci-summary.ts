// Prints the last line of CI, the sum of tests and checks. Fails when anything failed or a test did not run: CI has all that
// tests need. Only the run as a new user lacks Redis, and says so. A file with a failed test
// that passes when it is run again counts as it then was, and its failures are named.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Test {
	readonly status: string
	readonly fullName: string
}
interface FileResult {
	readonly name: string
	readonly status: string
	readonly assertionResults: readonly Test[]
}

const [folder = '', status] = process.argv.slice(2)
const read = (report: string): FileResult[] => JSON.parse(readFileSync(join(folder, report), 'utf8')).testResults
const first = [...read('tests.json'), ...read('tests-rest.json')]
const again = existsSync(join(folder, 'tests-again.json')) ? read('tests-again.json') : []
const failedAgain = new Set(again.filter((file) => file.status !== 'passed').map(({ name }) => name))
const passedAgain = again.filter(({ name }) => !failedAgain.has(name))
const replaced = first.filter(({ name }) => passedAgain.some((file) => file.name === name))
for (const { name, assertionResults } of replaced)
	for (const test of assertionResults)
		if (test.status === 'failed') console.log(`failed, and passed when it was run again: ${name} > ${test.fullName}`)

const files = [...first.filter((file) => !replaced.includes(file)), ...passedAgain]
const asUser = read('user-tests.json').flatMap(({ assertionResults }) => assertionResults)
const tests = files.flatMap(({ assertionResults }) => assertionResults).concat(asUser.filter((test) => test.status !== 'skipped'))
const passed = tests.filter((test) => test.status === 'passed').length
const failedTests = tests.length - passed
for (const { name, assertionResults } of files)
	for (const test of assertionResults) if (test.status !== 'passed') console.log(`${test.status}: ${name} > ${test.fullName}`)

const checks = /(\d+) passed, (\d+) failed\n$/.exec(readFileSync(join(folder, 'checks.txt'), 'utf8'))
if (!checks) throw new Error('the checks did not end')
// A run that fails without a failed test (a hook failed, a worker died) counts as one failure.
const broken = status !== '0' && failedTests === 0 ? 1 : 0
const failed = failedTests + broken + Number(checks[2])
console.log(`${passed + Number(checks[1])} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
