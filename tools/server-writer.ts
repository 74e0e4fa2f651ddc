// Writes what the server looks up by operation or by record: the operation table and the field lists of the records.
import { errorTable } from './error-table.ts'
import { eventSchemas } from './event-docs.ts'
import type { OpenApiDocument, Parameter } from './openapi.ts'
import { blanks, publicFields, recordFields } from './record-tables.ts'
import type { RecordKind } from './records.ts'

export function writeServerTables(document: OpenApiDocument, kinds: readonly RecordKind[], banner: string): string {
	return `// ${banner}

/** One operation of the contract. \`accepts\` lists the parameters by place; \`statuses\` every status it may answer. */
export interface OperationEntry {
	readonly id: string
	readonly method: string
	readonly path: string
	readonly scopes: readonly string[]
	readonly body: 'required' | 'optional' | 'none'
	readonly idempotent: boolean
	readonly statuses: readonly number[]
	/** Which limit its requests count against. */
	readonly rateClass: 'invoicing' | 'integration'
	/** Needs no key. */
	readonly public?: true
	/** Calls out to others, so that it opens its transactions itself. */
	readonly ownTransactions?: true
	readonly aliasOf?: string
}

export const operationTable = ${literal(operations(document))} as const satisfies readonly OperationEntry[]

/** What the paths of the integration API begin with. */
export const integrationRoots = ${literal(integrationRoots(document))} as const

/** How a field travels: \`json\` stands for arrays and objects. */
export type FieldType = 'string' | 'number' | 'boolean' | 'json'

/** The fields of each record, in the order in which answers show them. */
export const fields = ${literal(recordFields(document))} as const satisfies Record<string, Record<string, FieldType>>

/**
 * What has an id before anything is written on it: every field that may be null is. A store begins a new record with
 * \`{ ...blanks.Company, ...input, id, … }\`, so that a field that is added to the contract needs a column and nothing else.
 */
export const blanks = ${rows(blanks(document))} as const satisfies Record<string, Record<string, null>>

/** What a client sees of an invoice by its link, and nothing else: the fields of each schema whose name begins with Public. */
export const publicFields = ${rows(publicFields(document))} as const

/** What the ids of each kind of record begin with. */
export const idPrefixes = ${literal(Object.fromEntries(kinds.map(({ schema, prefix }) => [schema, prefix])))} as const

/** Every type of event, and the name of its schema. */
export const eventTypes = ${literal(Object.fromEntries([...eventSchemas(document)].map(([type, { name }]) => [type, name])))} as const

/** What a key may do: of the integration API one of three, each containing the one before; of the invoicing API a pair a record. */
export const keyScopes = ${literal(document.components.schemas.KeyScope?.enum)} as const

/** The status and title of every error code. */
export const errorTable = ${rows(errorTable(document))} as const satisfies Record<string, readonly [status: number, title: string]>
`
}

function operations(document: OpenApiDocument) {
	return Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({
			id: operation.operationId,
			method: method.toUpperCase(),
			path,
			scopes: operation['x-required-scopes'] ?? [],
			body: operation.requestBody ? (operation.requestBody.required ? 'required' : 'optional') : 'none',
			idempotent: (operation.parameters ?? []).some((parameter) => resolve(document, parameter).name === 'Idempotency-Key'),
			statuses: Object.keys(operation.responses).map(Number),
			rateClass: operation['x-rate-class'] ?? 'invoicing',
			...(operation.security?.length === 0 && { public: true }),
			...(operation['x-own-transactions'] && { ownTransactions: true }),
			...(operation['x-alias-of'] && { aliasOf: operation['x-alias-of'] }),
		})),
	)
}

function integrationRoots(document: OpenApiDocument): string[] {
	const roots = rateClassesByRoot(document)
	return [...roots].flatMap(([root, classes]) => (classes.has('integration') ? root : []))
}

/** The limits that the operations below each first segment of a path count against: one, or the contract lint refuses it. */
export function rateClassesByRoot({ paths }: OpenApiDocument): Map<string, Set<string>> {
	const roots = new Map<string, Set<string>>()
	for (const [path, methods] of Object.entries(paths)) {
		const root = path.split('/')[1] ?? ''
		const classes = Object.values(methods).map((operation) => operation['x-rate-class'] ?? 'invoicing')
		roots.set(root, new Set([...(roots.get(root) ?? []), ...classes]))
	}
	return roots
}

export function resolve(document: OpenApiDocument, parameter: Parameter | { $ref: string }): Parameter {
	if ('in' in parameter) return parameter
	const found = document.components.parameters?.[parameter.$ref.split('/').at(-1) ?? '']
	if (!found) throw new Error(`${parameter.$ref} is not in the document`)
	return found
}

const literal = (value: unknown) => JSON.stringify(value, null, '\t')

/** An object with each of its entries on a line of its own. */
const rows = (value: Record<string, unknown>) =>
	`{\n${Object.entries(value)
		.map(([name, entry]) => `\t${JSON.stringify(name)}: ${JSON.stringify(entry)},\n`)
		.join('')}}`
