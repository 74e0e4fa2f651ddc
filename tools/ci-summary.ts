// The last line of CI: tests and checks summed up. Fails when anything failed, or when a test was skipped: PostgreSQL is
// there, so nothing has a reason to be.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Report {
	numPassedTests: number
	numFailedTests: number
	numPendingTests: number
	numTodoTests: number
}

const [folder = '', status] = process.argv.slice(2)
const reports = ['tests.json', 'crash-tests.json'].map((name): Report => JSON.parse(readFileSync(join(folder, name), 'utf8')))
const sumOf = (count: keyof Report) => reports.reduce((sum, report) => sum + report[count], 0)
const checks = /(\d+) passed, (\d+) failed\n$/.exec(readFileSync(join(folder, 'checks.txt'), 'utf8'))
if (!checks) throw new Error('the checks did not end')
const skipped = sumOf('numPendingTests') + sumOf('numTodoTests')
if (skipped > 0) console.error(`${skipped} tests were skipped`)
// A run that fails without a failed test (a hook, a worker that died) counts as one.
const broken = status !== '0' && sumOf('numFailedTests') === 0 ? 1 : 0
const failed = sumOf('numFailedTests') + skipped + broken + Number(checks[2])
console.log(`${sumOf('numPassedTests') + Number(checks[1])} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
