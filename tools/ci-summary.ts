// The last line of CI: tests and checks summed up. Fails when anything failed, or when a test was skipped: PostgreSQL is
// there, so nothing has a reason to be.
import { readFileSync } from 'node:fs'

interface Report {
	numPassedTests: number
	numFailedTests: number
	numPendingTests: number
	numTodoTests: number
}

const [file = '', tests, checks] = process.argv.slice(2)
const report: Report = JSON.parse(readFileSync(file, 'utf8'))
const skipped = report.numPendingTests + report.numTodoTests
if (skipped > 0) console.error(`${skipped} tests were skipped`)
const failed = report.numFailedTests + skipped + Number(checks !== '0') + Number(tests !== '0' && report.numFailedTests === 0)
console.log(`${report.numPassedTests + Number(checks === '0')} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
