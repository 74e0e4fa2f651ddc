// Checks an answer against the contract, which is sealed for that: a field that it does not name is a mistake, too. Keeps what was answered, so
// that every-operation.api.test.ts finds what was not.
import { type Answer, AnswerChecker, codeOf } from '../src/platform/contract/answers.ts'
import { documentedOf, schemas, sealed } from '../src/platform/contract/document.ts'
import { type Operation, operations, Routes } from '../src/platform/contract/routes.ts'

const routes = new Routes(operations)
const checker = new AnswerChecker(sealed)

/** Operation, status and code of every answer that was checked, as `invoices.get 200` and `invoices.get 404 invoice_not_found`. */
export const seen = new Set<string>()

const nameOf = ({ id }: Operation, { status, code }: { status: number; code: string | undefined }) =>
	[id, status, code].filter(Boolean).join(' ')

/** All that the contract documents of an operation, in the same form. */
export const documentedAnswers = (operation: Operation): string[] =>
	documentedOf(operation).map((answer) => nameOf(operation, answer))

/** Whether the operation may answer the code. */
export const documents = (operation: Operation, code: string): boolean =>
	documentedOf(operation).some((answer) => answer.code === code)

/** Throws when the contract does not document the answer. */
export function checkAnswer(method: string, path: string, answer: Answer): void {
	const match = routes.match(path.split('?', 1)[0] as string)
	const operation = match?.methods.get(method === 'HEAD' ? 'GET' : method)
	const faults = checker.faultsOf(operation, answer, { method, path })
	if (faults.length > 0)
		throw new Error(`${method} ${path} ${answer.status}: ${faults.join('; ')}: ${JSON.stringify(answer.body)}`)
	if (operation) seen.add(nameOf(operation, { status: answer.status, code: codeOf(answer) }))
}

/** Throws when a value does not fit a schema of the contract by this name. */
export function checkSchema(name: string, value: unknown): void {
	const faults = checker.schemaFaults(schemas[name] as object, value)
	if (faults.length > 0) throw new Error(`a ${name} does not fit the contract: ${faults.join('; ')}`)
}
