// Says which answers of the contract no test has seen: operation, status and code. `ANSWERS_SEEN=file pnpm test` writes the file.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { codesOf } from './error-answers.ts'
import { type OpenApiDocument, operationsOf, responsesOf } from './openapi.ts'

const [file] = process.argv.slice(2)
if (!file) throw new Error('node tools/answer-coverage.ts <the file of ANSWERS_SEEN>')
const document: OpenApiDocument = parse(readFileSync(join(resolve(import.meta.dirname, '..'), 'spec/openapi.yaml'), 'utf8'))
const answers = operationsOf(document).flatMap((operation) =>
	Object.entries(responsesOf(document, operation)).flatMap(([status, response]) => {
		const codes = codesOf(response)
		return codes.length > 0
			? codes.map((code) => `${operation.operationId} ${status} ${code}`)
			: `${operation.operationId} ${status}`
	}),
)
const seen = new Set(readFileSync(file, 'utf8').split('\n'))
const missing = answers.filter((answer) => !seen.has(answer))
for (const answer of missing) console.log(answer)
console.log(`${answers.length - missing.length} of ${answers.length} answers (operation, status and code) were seen by tests`)
