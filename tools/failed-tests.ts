// Prints the files of a test report in which a test failed, a line each.
import { readFileSync } from 'node:fs'

const [report = ''] = process.argv.slice(2)
const { testResults }: { testResults: { name: string; status: string }[] } = JSON.parse(readFileSync(report, 'utf8'))
for (const name of new Set(testResults.filter(({ status }) => status === 'failed').map(({ name }) => name))) console.log(name)
