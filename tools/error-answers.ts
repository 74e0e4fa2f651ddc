// Narrows the errors of each operation to the codes that it can give: those of its `@codes`, and those that follow from what it takes.

import { errorTable } from './error-table.ts'
import { idAt } from './examples.ts'
import {
	isSessionOnly,
	type Json,
	type JsonObject,
	type OpenApiDocument,
	type Operation,
	type Response,
	resolve,
} from './openapi.ts'
import { scopesOf } from './security.ts'

/** What follows for every operation; the status of a code counts only where the operation documents it. */
function generalCodes(document: OpenApiDocument, verb: string, operation: Operation): string[] {
	const { security, requestBody, parameters = [] } = operation
	const takes = new Set(parameters.map((parameter) => resolve(document, parameter).name))
	const isPublic = security?.length === 0
	const isGet = verb === 'get'
	const reads = scopesOf(operation).some((scope) => /(^|:)read$/.test(scope)) && !operation['x-own-transactions']
	const commits = !isGet && !reads && !operation['x-changes-nothing']
	const stores = commits && !isPublic && verb !== 'delete'
	const given: [boolean, string[]][] = [
		[true, ['invalid_request', 'rate_limited', 'internal_error', 'unavailable']],
		[!isPublic, ['ambiguous_credentials', 'missing_credentials', 'invalid_credentials', 'session_ended']],
		[!isPublic, [isSessionOnly(operation) ? 'session_required' : 'insufficient_scope']],
		[!isGet, ['cross_site_request']],
		[commits, ['outcome_unknown']],
		[stores, ['storage_limit_reached']],
		[requestBody !== undefined, ['invalid_json', 'payload_too_large', 'unsupported_media_type']],
		[requestBody?.required === true, ['body_required']],
		[takes.has('If-Match'), ['version_mismatch']],
		[takes.has('Idempotency-Key'), ['idempotency_key_in_use', 'idempotency_key_reused']],
	]
	return given.flatMap(([is, codes]) => (is ? codes : []))
}

/** Takes `x-error-codes` out of the operations, and narrows the code of each of their errors. */
export function narrowErrors(document: OpenApiDocument): void {
	const table = errorTable(document)
	const contents = new Map<string, Response['content']>()
	document.components.examples ??= {}
	for (const [path, methods] of Object.entries(document.paths)) {
		for (const [verb, operation] of Object.entries(methods)) {
			const { operationId, responses, 'x-error-codes': own = [] } = operation
			delete operation['x-error-codes']
			for (const code of own) {
				const [status] = table[code] ?? []
				if (!status) throw new Error(`${operationId}: ${code} of @codes is no ErrorCode`)
				if (!(status in responses)) throw new Error(`${operationId}: its @codes have ${code}, and it does not document ${status}`)
			}
			const all = new Set([...generalCodes(document, verb, operation), ...own])
			for (const [status, response] of Object.entries(responses)) {
				if (Number(status) < 400) continue
				const codes = Object.keys(table).filter((code) => all.has(code) && table[code]?.[0] === Number(status))
				if (codes.length === 0) throw new Error(`${operationId}: it documents ${status}, and its @codes have none of that status`)
				const found = contents.get(codes.join()) ?? contentOf(document, codes, path)
				contents.set(codes.join(), found)
				Object.assign(response, { description: descriptionOf(document, codes), content: found })
			}
		}
	}
}

/** Each code has one example in the document, which is of the first operation that has the code. */
function contentOf(document: OpenApiDocument, codes: string[], path: string): Response['content'] {
	const narrowed = { properties: { code: { enum: codes, 'x-open-enum': true } } }
	const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, narrowed] }
	const shared = document.components.examples as Record<string, JsonObject>
	for (const code of codes) shared[code] ??= { value: exampleOf(document, code, path) }
	const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
	return { 'application/problem+json': { schema, examples } }
}

function descriptionOf(document: OpenApiDocument, codes: string[]): string {
	if (codes.length === 1) return sentenceOf(document, codes[0] as string)
	return codes.map((code) => `- \`${code}\`: ${sentenceOf(document, code)}`).join('\n')
}

/** What `ErrorCode` says of a code, without the status. */
function sentenceOf({ components: { schemas } }: OpenApiDocument, code: string): string {
	const sentences = schemas.ErrorCode?.['x-enumDescriptions'] as Record<string, string>
	return String(sentences[code])
		.replace(/^\d+: /, '')
		.replace(/^./, (first) => first.toUpperCase())
}

function exampleOf(document: OpenApiDocument, code: string, path: string): Json {
	const [status, title] = errorTable(document)[code] as [number, string]
	const [{ requestId }] = (document.components.schemas.Problem as { examples: [JsonObject] }).examples
	const detail = sentenceOf(document, code)
	return {
		type: `urn:remit:problem:${code}`,
		title,
		status,
		detail,
		instance: withIds(document, path),
		code,
		requestId: requestId as Json,
		...(code === 'invalid_request' && { errors: [{ parameter: 'limit', code: 'maximum', detail: 'must be <= 100' }] }),
	}
}

/** The path with the id of the example of the record that is read there. */
function withIds(document: OpenApiDocument, path: string): string {
	return path.replaceAll(/\{\w+\}/g, (parameter, at: number) => idAt(document, path.slice(0, at + parameter.length)) ?? 'unknown')
}

/** The codes to which an error is narrowed. */
export function codesOf({ content = {} }: Response): string[] {
	const [, narrowed] = (content['application/problem+json']?.schema.allOf ?? []) as [
		object,
		{ properties: { code: { enum: string[] } } },
	]
	return narrowed?.properties.code.enum ?? []
}
