// Writes packages/server/src/generated/tables.ts: what the server looks up by operation, record, event type or error code.
import { errorTable } from './error-table.ts'
import { eventSchemas, kindOfEvent } from './event-docs.ts'
import { isSessionOnly, type OpenApiDocument, resolve } from './openapi.ts'
import { blanks, recordFields } from './record-tables.ts'
import { type RecordKind, snake } from './records.ts'
import { needsAnyScope, scopesOf } from './security.ts'

export function writeServerTables(document: OpenApiDocument, kinds: readonly RecordKind[], banner: string): string {
	return `// ${banner}

/** One operation of the contract. */
export interface OperationEntry {
	readonly id: string
	readonly method: string
	readonly path: string
	readonly scopes: readonly string[]
	/** One of its scopes is enough, and its answer has what that one may read. */
	readonly anyScope?: true
	readonly body: 'required' | 'optional' | 'none'
	readonly idempotent: boolean
	/** Every status that it may answer. */
	readonly statuses: readonly number[]
	/** The rate limit that its requests count against. */
	readonly rateClass: 'invoicing' | 'integration'
	/** Needs no key. */
	readonly public?: true
	/** Takes the session of a person, and no key. */
	readonly sessionOnly?: true
	/** The least role of a person that may call it, in place of the scopes, which are those of keys. */
	readonly sessionRole?: 'member' | 'manager' | 'admin'
	/** Is about the whole organization: a key that is limited to some kinds of records gets 403. */
	readonly unlimitedKeysOnly?: true
	/** Its handler opens its transactions itself: it calls another server between them, or it is a GET that writes. */
	readonly ownTransactions?: true
	/** Whether the body may have credentials, so that no plain hash of it is stored. */
	readonly secretBody?: true
	/** Nothing has changed by the time of its answer, though its scope is one to write. */
	readonly changesNothing?: true
	/** The most bytes of a body, when they are not those of every operation. */
	readonly bodyLimit?: number
	/** The id of the operation that this one repeats. */
	readonly aliasOf?: string
}

export const operationTable = ${literal(operations(document))} as const satisfies readonly OperationEntry[]

/** The first segments of the paths of the integration API. */
export const integrationRoots = ${literal(integrationRoots(document))} as const

/** The JSON type of a field; \`json\` stands for arrays and objects, \`word\` for a string from a closed list. */
export type FieldType = 'string' | 'word' | 'integer' | 'number' | 'boolean' | 'json'

/** The fields of each record, in the order in which answers show them. */
export const fields = ${literal(recordFields(document))} as const satisfies Record<string, Record<string, FieldType>>

/**
 * The nullable fields of each schema with an id, all null. A store begins a new record with
 * \`{ ...blanks.Company, ...input, id, … }\`, so that a new field of the contract needs a column and nothing else.
 */
export const blanks = ${rows(blanks(document))} as const satisfies Record<string, Record<string, null>>

/** The prefix of the ids of each kind of record. */
export const idPrefixes = ${literal(Object.fromEntries(kinds.map(({ schema, prefix }) => [schema, prefix])))} as const

/** The scope of each kind of record, without \`:read\` and \`:write\`; null for those of the integration API. */
export const scopeOfKind = ${literal(Object.fromEntries(kinds.map(({ schema, scope }) => [snake(schema), scope ?? null])))} as const

/** The kind of record that events of each type are about. */
export const eventKinds = ${literal(Object.fromEntries([...eventSchemas(document)].map(([type, { schema }]) => [type, kindOfEvent(schema)])))} as const

/** The name of the schema of each event type. */
export const eventTypes = ${literal(Object.fromEntries([...eventSchemas(document)].map(([type, { name }]) => [type, name])))} as const

/** The scopes of API keys: three of the integration API, each containing the one before, and pairs of the invoicing API. */
export const keyScopes = ${literal(document.components.schemas.KeyScope?.enum)} as const

/** The status and the title of each error code. */
export const errorTable = ${rows(errorTable(document))} as const satisfies Record<string, readonly [status: number, title: string]>
`
}

function operations(document: OpenApiDocument) {
	return Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({
			id: operation.operationId,
			method: method.toUpperCase(),
			path,
			scopes: scopesOf(operation),
			body: operation.requestBody ? (operation.requestBody.required ? 'required' : 'optional') : 'none',
			idempotent: (operation.parameters ?? []).some((parameter) => resolve(document, parameter).name === 'Idempotency-Key'),
			statuses: Object.keys(operation.responses).map(Number),
			rateClass: operation['x-rate-class'] ?? 'invoicing',
			...(operation.security?.length === 0 && { public: true }),
			...(isSessionOnly(operation) && { sessionOnly: true }),
			...(operation['x-session-role'] && { sessionRole: operation['x-session-role'] }),
			...(needsAnyScope(operation) && { anyScope: true }),
			...(operation['x-unlimited-keys-only'] && { unlimitedKeysOnly: true }),
			...(operation['x-own-transactions'] && { ownTransactions: true }),
			...(operation['x-secret-body'] && { secretBody: true }),
			...(operation['x-changes-nothing'] && { changesNothing: true }),
			...(operation['x-body-limit'] && { bodyLimit: operation['x-body-limit'] }),
			...(operation['x-alias-of'] && { aliasOf: operation['x-alias-of'] }),
		})),
	)
}

function integrationRoots(document: OpenApiDocument): string[] {
	const roots = rateClassesByRoot(document)
	return [...roots].flatMap(([root, classes]) => (classes.has('integration') ? root : []))
}

/** The rate limits of the operations below each first segment of a path; the contract lint requires one limit a segment. */
export function rateClassesByRoot({ paths }: OpenApiDocument): Map<string, Set<string>> {
	const roots = new Map<string, Set<string>>()
	for (const [path, methods] of Object.entries(paths)) {
		const root = path.split('/')[1] ?? ''
		const classes = Object.values(methods).map((operation) => operation['x-rate-class'] ?? 'invoicing')
		roots.set(root, new Set([...(roots.get(root) ?? []), ...classes]))
	}
	return roots
}

const literal = (value: unknown) => JSON.stringify(value, null, '\t')

/** An object literal with one entry a line. */
const rows = (value: Record<string, unknown>) =>
	`{\n${Object.entries(value)
		.map(([name, entry]) => `\t${JSON.stringify(name)}: ${JSON.stringify(entry)},\n`)
		.join('')}}`
