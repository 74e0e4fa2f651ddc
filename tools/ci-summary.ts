// Prints the last line of CI, the sum of tests and checks. Fails when anything failed or a test was skipped: CI has PostgreSQL,
// Redis and Chromium, so no test has a reason to be skipped. Only the run as a new user has no Redis.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Count = 'numPassedTests' | 'numFailedTests' | 'numPendingTests' | 'numTodoTests'
type Report = Record<Count, number> & {
	testResults: { assertionResults: { status: string; ancestorTitles: string[] }[] }[]
}

const [folder = '', status] = process.argv.slice(2)
const read = (name: string): Report => JSON.parse(readFileSync(join(folder, name), 'utf8'))
const userReport = read('user-tests.json')
const reports = [read('tests.json'), read('crash-tests.json'), userReport]
const sumOf = (count: Count) => reports.reduce((sum, report) => sum + report[count], 0)
const checks = /(\d+) passed, (\d+) failed\n$/.exec(readFileSync(join(folder, 'checks.txt'), 'utf8'))
if (!checks) throw new Error('the checks did not end')
const withoutRedis = userReport.testResults
	.flatMap(({ assertionResults }) => assertionResults)
	.filter(({ status, ancestorTitles }) => status === 'skipped' && ancestorTitles[0] === 'with Redis').length
const skipped = sumOf('numPendingTests') + sumOf('numTodoTests') - withoutRedis
if (skipped > 0) console.error(`${skipped} tests were skipped`)
// A run that fails without a failed test (a hook failed, a worker died) counts as one failure.
const broken = status !== '0' && sumOf('numFailedTests') === 0 ? 1 : 0
const failed = sumOf('numFailedTests') + skipped + broken + Number(checks[2])
console.log(`${sumOf('numPassedTests') + Number(checks[1])} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
