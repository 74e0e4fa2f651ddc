// Prints the files of test reports in which a test failed, a line each.
import { readFileSync } from 'node:fs'

const testResults = process.argv.slice(2).flatMap((report) => {
	const read: { testResults: { name: string; status: string }[] } = JSON.parse(readFileSync(report, 'utf8'))
	return read.testResults
})
for (const name of new Set(testResults.filter(({ status }) => status === 'failed').map(({ name }) => name))) console.log(name)
