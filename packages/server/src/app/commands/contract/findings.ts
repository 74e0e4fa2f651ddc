// What a run has seen: of each operation the statuses and codes, and what is wrong with them.

import { type Answer, codeOf } from '../../../platform/contract/answers.ts'
import { documentedOf } from '../../../platform/contract/document.ts'
import { type Operation, operations } from '../../../platform/contract/routes.ts'

export interface Row {
	readonly operation: string
	readonly status: number
	readonly code: string | undefined
	/** How many such answers there were. */
	seen: number
	/** A sentence for each mistake, with its place and the request. */
	readonly faults: string[]
}

export class Findings {
	readonly #rows = new Map<string, Row>()
	/** Why an operation was not asked for more, by its id. */
	readonly notAsked = new Map<string, string>()

	constructor(walked: readonly Operation[]) {
		for (const operation of walked) for (const { status, code } of documentedOf(operation)) this.#row(operation, status, code)
	}

	#row({ id }: Operation, status: number, code: string | undefined): Row {
		const key = `${id} ${status} ${code ?? ''}`
		const row = this.#rows.get(key) ?? { operation: id, status, code, seen: 0, faults: [] }
		this.#rows.set(key, row)
		return row
	}

	see(operation: Operation, answer: Answer, request: string, faults: readonly string[]): void {
		const row = this.#row(operation, answer.status, codeOf(answer))
		row.seen++
		for (const fault of faults) this.#note(row, `${fault} (${request}, ${answer.headers.get('x-request-id') ?? 'no request id'})`)
	}

	/** Notes that an answer is not what the contract promises, though it fits its schema. */
	fail(operation: Operation, status: number, code: string | undefined, fault: string): void {
		this.#note(this.#row(operation, status, code), fault)
	}

	/** The same mistake in ten answers is told once. */
	#note({ faults }: Row, fault: string): void {
		const place = (text: string) => text.split(' (', 1)[0]
		if (!faults.some((known) => place(known) === place(fault))) faults.push(fault)
	}

	/** By operation in the order of the contract, then by status. */
	rows(): Row[] {
		const order = new Map(operations.map(({ id }, at) => [id as string, at]))
		const at = ({ operation }: Row) => order.get(operation) ?? 0
		return [...this.#rows.values()].sort((left, right) => at(left) - at(right) || left.status - right.status)
	}
}
