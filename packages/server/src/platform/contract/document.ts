// The OpenAPI document, from which the server builds its routes and validators at run time.
import document from '../../generated/openapi.json' with { type: 'json' }

export type JsonSchema = { [keyword: string]: unknown }

export interface ContractParameter {
	readonly name: string
	readonly in: 'query' | 'path' | 'header'
	readonly required?: boolean
	readonly description?: string
	readonly schema: JsonSchema
}

export interface ContractOperation {
	readonly operationId: string
	readonly description: string
	readonly parameters: readonly ContractParameter[]
	readonly requestBody?: { readonly required?: boolean; readonly content: Record<string, { readonly schema: JsonSchema }> }
	readonly responses: Record<
		string,
		{
			readonly headers: Record<string, { readonly required?: boolean }>
			readonly content?: Record<string, { schema: JsonSchema }>
		}
	>
}

/** A copy of the document, to be changed. */
export const contractDocument = () => structuredClone(document)

/** A copy as the server at this URL gives it out: a file says by itself where its operations are. */
export function servedDocument(baseUrl: string) {
	const copy = contractDocument()
	for (const server of copy.servers) server.url = baseUrl
	return copy
}

/** The document with one operation, and of the components those that it refers to. */
export function documentOf(method: string, path: string) {
	const methods = (document.paths as Record<string, Record<string, object>>)[path]
	const paths = { [path]: { [method.toLowerCase()]: methods?.[method.toLowerCase()] } }
	const { openapi, info, components } = document
	return { openapi, info, paths, components: { ...componentsOf(paths), securitySchemes: components.securitySchemes } }
}

/**
 * Unless the parameter allows them, express-openapi-validator rejects an empty value and the reserved characters that
 * URLSearchParams writes (`+` for a blank) or does not encode (`'`). The schema alone decides which values are valid.
 */
const relaxedQuery = { allowReserved: true, allowEmptyValue: true }

/** A copy in which every object but those of examples has also what `more` returns of it. */
function extended<Part>(part: Part, more: (within: object) => object | false): Part {
	const copy = structuredClone(part)
	const extend = (within: unknown, name?: string) => {
		if (typeof within !== 'object' || within === null || name === 'example' || name === 'examples') return
		Object.assign(within, more(within))
		for (const [key, value] of Object.entries(within)) extend(value, key)
	}
	extend(copy)
	return copy
}

/** A copy for the validator, which changes what it is given. Every parameter of a query has what it needs. */
export const relaxed = <Part>(part: Part): Part =>
	extended(part, (within) => 'in' in within && within.in === 'query' && 'schema' in within && relaxedQuery)

/** A copy for tests and development, in which an answer may have no field that the contract does not name. Clients must take such fields. */
export const sealed = <Part>(part: Part): Part =>
	extended(
		part,
		(within) =>
			'type' in within &&
			within.type === 'object' &&
			'properties' in within &&
			!('additionalProperties' in within) && { additionalProperties: false },
	)

export const { version } = document.info

const components: { readonly [kind: string]: Readonly<Record<string, object>> } = document.components

export const schemas: Record<string, JsonSchema> = document.components.schemas

/** The schema with its reference resolved, and the keywords beside the reference. */
export function resolved({ $ref, ...beside }: JsonSchema): JsonSchema {
	return typeof $ref === 'string' ? { ...resolved(schemas[$ref.replace('#/components/schemas/', '')] ?? {}), ...beside } : beside
}

/** The schemas of which a value fits one. */
export function membersOf(schema: JsonSchema): JsonSchema[] {
	const { anyOf, ...own } = resolved(schema)
	return Array.isArray(anyOf) ? anyOf.flatMap(membersOf) : [own]
}

/** The components to which a part of the document refers, directly or through others. */
export function componentsOf(part: unknown): { [kind: string]: Record<string, object> } {
	const found: { [kind: string]: Record<string, object> } = {}
	const find = (within: unknown) => {
		for (const [, kind = '', name = ''] of JSON.stringify(within).matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g)) {
			found[kind] ??= {}
			if (found[kind][name]) continue
			const component = components[kind]?.[name]
			if (!component) throw new Error(`the contract has no component ${kind}/${name}`)
			found[kind][name] = component
			find(component)
		}
	}
	find(part)
	return found
}

/** Every operation by its id, with references to parameters, responses and headers resolved. */
export const contractOperations: ReadonlyMap<string, ContractOperation> = new Map(
	Object.values(document.paths)
		.flatMap((methods) => Object.values(methods))
		.map((operation) => [
			operation.operationId,
			{
				...operation,
				parameters: relaxed(operation.parameters?.map(component) ?? []),
				responses: mapValues(operation.responses, answer),
			} as ContractOperation,
		]),
)

/** What the contract documents of an operation: each status, and of errors each code. */
export function documentedOf({ id }: { readonly id: string }): { status: number; code: string | undefined }[] {
	const { responses } = contractOperations.get(id) as ContractOperation
	return Object.entries(responses).flatMap(([status, { content = {} }]) => {
		const [, narrowed] = (content['application/problem+json']?.schema.allOf ?? []) as [object?, Narrowed?]
		const codes = narrowed?.properties.code.enum ?? [undefined]
		return codes.map((code) => ({ status: Number(status), code }))
	})
}

/** The part of a problem's schema that has the codes. */
interface Narrowed {
	readonly properties: { readonly code: { readonly enum: readonly string[] } }
}

function answer(found: unknown): object {
	const { headers, ...response } = component(found) as { headers?: object }
	return { ...response, headers: mapValues(headers ?? {}, component) }
}

/** What stands there, or the component that a reference there names. */
function component(part: unknown): unknown {
	const { $ref } = part as { $ref?: string }
	if ($ref === undefined) return part
	const [kind = '', name = ''] = $ref.replace('#/components/', '').split('/')
	return components[kind]?.[name]
}

function mapValues(values: object, to: (value: unknown) => unknown) {
	return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]))
}
