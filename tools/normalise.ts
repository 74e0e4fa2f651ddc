// Turns the emitted document into the contract: adds what the emitter cannot express, and rewrites what the validator or the
// type generator cannot read. records.ts (`x-record`) and generate.ts (descriptions of enum members) have run before.

import { writeAliases } from './aliases.ts'
import { narrowErrors } from './error-answers.ts'
import { describeEvents } from './event-docs.ts'
import { describeCreated } from './examples.ts'
import { type Json, type JsonObject, type OpenApiDocument, type Operation, operationsOf, type Response } from './openapi.ts'
import { writeSecurity } from './security.ts'
import { shareAnswers } from './share.ts'
import { describeUnits } from './units.ts'

export function normalise(emitted: OpenApiDocument): OpenApiDocument {
	const document = visit(emitted as unknown as Json) as unknown as OpenApiDocument
	document.components.headers = { ...commonHeaders, Link: linkHeader }
	for (const [path, methods] of Object.entries(document.paths)) {
		// The integration API has a limit of its own.
		if (!path.startsWith('/api/')) for (const operation of Object.values(methods)) operation['x-rate-class'] = 'integration'
	}
	for (const operation of operationsOf(document)) {
		operation.operationId = operation.operationId.replace(/^./, (first) => first.toLowerCase())
		for (const response of Object.values(operation.responses)) addHeaders(response as Response, Object.keys(commonHeaders))
		if (isList(document, operation)) addHeaders(operation.responses['200'] as Response, ['Link'])
	}
	writeAliases(document)
	writeSecurity(document)
	narrowErrors(document)
	describeUnits(document)
	describeEvents(document)
	shareAnswers(document)
	describeCreated(document)
	const shared = Object.values(document.components.parameters ?? {})
	const own = operationsOf(document).flatMap((operation) => operation.parameters ?? [])
	for (const parameter of [...shared, ...own]) {
		if (!('in' in parameter)) continue
		parameter.schema = unfolded(document, parameter.schema)
		if (parameter.required === false) delete parameter.required
	}
	return document
}

function visit(node: Json): Json {
	if (Array.isArray(node)) return node.map(visit)
	if (node === null || typeof node !== 'object') return node
	const result: JsonObject = {}
	for (const [key, value] of Object.entries(node)) {
		if (key === 'unevaluatedProperties' && !('allOf' in node)) result.additionalProperties = sealed(value)
		// JSON Schema keywords for which TypeSpec has no decorator.
		else if (key === 'x-schema') Object.assign(result, value)
		else if (key === 'description' && typeof value === 'string') result[key] = unwrapped(value)
		else if (key === 'x-enumDescriptions') result[key] = mapValues(value as Record<string, string>, unwrapped)
		else result[key] = visit(value)
	}
	return result
}

/** A doc comment breaks its lines where they are full; only an empty line and an item of a list begin a new one. */
const unwrapped = (text: string) => text.replaceAll(/(?<!\n)\n(?!\n|- |\d+\. |\||```)/g, ' ')

const mapValues = (values: Record<string, string>, to: (value: string) => string) =>
	Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]))

/** Without `allOf`, `unevaluatedProperties: false` equals `additionalProperties: false`, for which validators name the property. */
function sealed(value: Json): Json {
	return JSON.stringify(value) === '{"not":{}}' ? false : visit(value)
}

/** express-openapi-validator ignores keywords beside a `$ref` in the schema of a parameter, so the reference is written out. */
function unfolded(document: OpenApiDocument, { $ref, ...beside }: JsonObject): JsonObject {
	if (typeof $ref !== 'string') return beside
	if (Object.keys(beside).length === 0) return { $ref }
	return { ...document.components.schemas[$ref.replace('#/components/schemas/', '')], ...beside }
}

const header = (type: string, description: string, format?: string): JsonObject => ({
	description,
	schema: { type, ...(format && { format }) },
})

const commonHeaders: Record<string, JsonObject> = {
	'X-Request-Id': { ...header('string', "The request's id, as in the server's log."), required: true },
	'X-Contract-Version': { ...header('string', 'The version of this document that the server follows.'), required: true },
	'X-RateLimit-Limit': header(
		'integer',
		'Requests per minute that the key may make, or without a key the address; absent without a limit.',
		'int32',
	),
	'X-RateLimit-Remaining': header('integer', 'Requests left until the window ends.', 'int32'),
	'X-RateLimit-Reset': header('integer', 'Unix time in seconds at which the window ends.', 'int64'),
}

const linkHeader = header(
	'string',
	'`<…>; rel="next"`, the URL of the next page relative to this one (RFC 8288); absent on the last page.',
)

function addHeaders(response: Response, names: readonly string[]): void {
	const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
	response.headers = { ...response.headers, ...Object.fromEntries(references) }
}

/** Lists are the operations that take a cursor. */
const isList = ({ components }: OpenApiDocument, { parameters = [] }: Operation): boolean =>
	parameters.some((parameter) => {
		const { name } = '$ref' in parameter ? (components.parameters?.[parameter.$ref.split('/').at(-1) as string] ?? {}) : parameter
		return name === 'cursor'
	})
