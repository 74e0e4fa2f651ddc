// The one step between what the TypeSpec emitter writes and the contract. Everything the emitter cannot say, or says in a
// way that the validator or the type generator stumbles over, is put right here and nowhere else.

import { describeEvents } from './event-docs.ts'
import { type Json, type JsonObject, type OpenApiDocument, operationsOf, type Parameter, type Response } from './openapi.ts'

export function normalise(emitted: OpenApiDocument): OpenApiDocument {
	const document = visit(emitted as unknown as Json) as unknown as OpenApiDocument
	document.components.headers = commonHeaders
	for (const operation of operationsOf(document)) {
		operation.operationId = operation.operationId.replace(/^./, (first) => first.toLowerCase())
		// "No scheme" is how the emitter says that none is needed.
		if (JSON.stringify(operation.security) === '[{}]') operation.security = []
		for (const response of Object.values(operation.responses)) addCommonHeaders(response as Response)
	}
	describeEvents(document)
	const shared = Object.values(document.components.parameters ?? {})
	const own = operationsOf(document).flatMap((operation) => operation.parameters ?? [])
	for (const parameter of [...shared, ...own]) {
		if (!('in' in parameter)) continue
		parameter.schema = unfolded(document, parameter.schema)
		if (parameter.in === 'query') relaxQuery(parameter)
	}
	return document
}

function visit(node: Json): Json {
	if (Array.isArray(node)) return node.map(visit)
	if (node === null || typeof node !== 'object') return node
	const result: JsonObject = {}
	for (const [key, value] of Object.entries(node)) {
		if (key === 'unevaluatedProperties' && !('allOf' in node)) result.additionalProperties = sealed(value)
		// Keywords TypeSpec has no decorator for are written as one extension.
		else if (key === 'x-schema') Object.assign(result, value)
		else result[key] = visit(value)
	}
	return result
}

/** Nothing here is composed with allOf, so "no unevaluated" is "no additional", which validators report by name. */
function sealed(value: Json): Json {
	return JSON.stringify(value) === '{"not":{}}' ? false : visit(value)
}

/** express-openapi-validator does not see what stands beside a reference in the schema of a parameter. */
function unfolded(document: OpenApiDocument, { $ref, ...beside }: JsonObject): JsonObject {
	if (typeof $ref !== 'string') return beside
	if (Object.keys(beside).length === 0) return { $ref }
	return { ...document.components.schemas[$ref.replace('#/components/schemas/', '')], ...beside }
}

/**
 * express-openapi-validator refuses an empty value, and the reserved characters that URLSearchParams leaves alone or
 * writes (`+` for a blank, `'`), unless the parameter allows them; what a value may be is the schema's to say.
 */
function relaxQuery(parameter: Parameter): void {
	parameter.allowReserved = true
	parameter.allowEmptyValue = true
}

const header = (type: string, description: string): JsonObject => ({ description, schema: { type } })

const commonHeaders: Record<string, JsonObject> = {
	'X-Request-Id': { ...header('string', "The request's id, as in the server's log."), required: true },
	'X-RateLimit-Limit': header('integer', 'Requests per minute that the key has; absent when there is no limit.'),
	'X-RateLimit-Remaining': header('integer', 'Requests left in this window.'),
	'X-RateLimit-Reset': header('integer', 'Unix time in seconds at which the window ends.'),
}

function addCommonHeaders(response: Response): void {
	const references = Object.keys(commonHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }])
	response.headers = { ...response.headers, ...Object.fromEntries(references) }
}
