// Finds the operation of a request, once. Scopes, validation and handler all use this result: with a second router that reads
// a path differently, a request could get around the authentication of the first.
import { integrationRoots, type OperationEntry, operationTable } from '../../generated/tables.ts'

export type OperationId = (typeof operationTable)[number]['id']

export interface Operation extends OperationEntry {
	readonly id: OperationId
	/** Whether the operation changes data, so that the dispatcher runs it in a transaction. */
	readonly writes: boolean
	/** Whether it reads any number of records: a list, a search or a report. */
	readonly readsMany: boolean
	/** Whether it writes few rows, whatever its caller asks for: one record alone. A payment changes up to a hundred invoices. */
	readonly isShort: boolean
}

export const operations: readonly Operation[] = operationTable.map((entry: OperationEntry) => ({
	...entry,
	id: entry.id as OperationId,
	// A POST that needs only a read scope, such as a preview, changes nothing.
	writes:
		!entry.ownTransactions &&
		!entry.changesNothing &&
		entry.method !== 'GET' &&
		!entry.scopes.some((scope) => /(^|:)read$/.test(scope)),
	readsMany: entry.method === 'GET' && !entry.ownTransactions && /\.(list|history|summary|stats)$/.test(entry.id),
	isShort: /^(companies|contacts|deals|invoices|taxRates|timeEntries)\.create$/.test(entry.id),
}))

/**
 * The integration API counts every request, even for a path that does not exist, and answers each with its limit. Webhooks of providers come in any
 * number, from few addresses.
 */
export const isIntegrationPath = (path: string): boolean => integrationPath.test(path)

const integrationPath = new RegExp(`^/(?!connections/webhooks/)(${integrationRoots.join('|')})(/|$)`)

export interface Match {
	readonly methods: ReadonlyMap<string, Operation>
	readonly params: Record<string, string>
}

interface Node {
	readonly children: Map<string, Node>
	readonly methods: Map<string, Operation>
	parameter?: Node
	/** Names of the path's parameters, in order. */
	names: string[]
}

const newNode = (): Node => ({ children: new Map(), methods: new Map(), names: [] })

/** Finds operations by path. A literal segment wins over a parameter, as in OpenAPI ("concrete before templated"). */
export class Routes {
	readonly #root = newNode()

	constructor(all: readonly Operation[]) {
		for (const operation of all) this.#add(operation)
	}

	#add(operation: Operation): void {
		let node = this.#root
		const names: string[] = []
		for (const segment of operation.path.slice(1).split('/')) {
			const name = /^\{(.+)\}$/.exec(segment)?.[1]
			if (name) {
				names.push(name)
				node.parameter ??= newNode()
				node = node.parameter
			} else {
				let child = node.children.get(segment)
				if (!child) {
					child = newNode()
					node.children.set(segment, child)
				}
				node = child
			}
		}
		node.names = names
		node.methods.set(operation.method, operation)
	}

	/** The operations of a path, by method; undefined when the contract does not have the path. */
	match(path: string): Match | undefined {
		const segments = path.slice(1).split('/')
		const values: string[] = []
		const node = find(this.#root, segments, 0, values)
		if (!node) return undefined
		const params: Record<string, string> = {}
		for (let index = 0; index < node.names.length; index++) {
			const value = decode(values[index] as string)
			if (value === undefined) return undefined
			params[node.names[index] as string] = value
		}
		return { methods: node.methods, params }
	}
}

function find(node: Node, segments: string[], depth: number, values: string[]): Node | undefined {
	if (depth === segments.length) return node.methods.size > 0 ? node : undefined
	const segment = segments[depth] as string
	const child = node.children.get(segment)
	const found = child && find(child, segments, depth + 1, values)
	if (found) return found
	if (!node.parameter || segment === '') return undefined
	values.push(segment)
	const below = find(node.parameter, segments, depth + 1, values)
	if (!below) values.pop()
	return below
}

function decode(segment: string): string | undefined {
	if (!segment.includes('%')) return segment
	try {
		return decodeURIComponent(segment)
	} catch {
		return undefined
	}
}
