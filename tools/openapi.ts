// The OpenAPI document as the tools read it: typed as far as they do.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export interface Parameter {
	name: string
	in: 'query' | 'path' | 'header'
	required?: boolean
	description?: string
	schema: JsonObject
}
export interface MediaType {
	schema: JsonObject
	examples?: Record<string, { $ref: string } | { value: Json }>
}
export interface Response {
	description: string
	headers?: Record<string, JsonObject>
	content?: Record<string, MediaType>
}
export interface Operation {
	operationId: string
	summary: string
	description: string
	tags: string[]
	parameters?: (Parameter | { $ref: string })[]
	requestBody?: { required?: boolean; content: Record<string, MediaType> }
	responses: Record<string, Response | { $ref: string }>
	security?: JsonObject[]
	/** Of `@codes`, until tools/error-answers.ts takes them out. */
	'x-error-codes'?: string[]
	/** Of `@scopes` and `@anyScope`, until tools/security.ts writes `security`. */
	'x-scopes'?: string[]
	'x-any-scope'?: string[]
	/** A key that is limited to some kinds of records gets 403. */
	'x-unlimited-keys-only'?: boolean
	/** The least role of a person that may call it, in place of the scopes, which are those of keys. */
	'x-session-role'?: 'member' | 'manager' | 'admin'
	'x-alias-of'?: string
	/** Of `@alsoPut`, until tools/aliases.ts writes the PUT. */
	'x-also-put'?: string
	/** The model of the records of a list by the value of a query parameter, and without it (`absent`), for the types of the SDK. */
	'x-answer-by'?: JsonObject & { absent: string }
	'x-body-limit'?: number
	/** Which limit its requests count against; `invoicing` when absent. */
	'x-rate-class'?: 'integration'
	/** The operation calls out to others between its transactions, and opens them itself. */
	'x-own-transactions'?: boolean
	'x-secret-body'?: boolean
	/** Nothing has changed by the time of its answer, though its scope is one to write. */
	'x-changes-nothing'?: boolean
}
export interface OpenApiDocument {
	openapi: string
	info: { title: string; version: string; description?: string }
	paths: Record<string, Record<string, Operation>>
	/** What the server sends by itself, by the type of event. */
	webhooks?: Record<string, JsonObject>
	components: {
		schemas: Record<string, JsonObject>
		parameters?: Record<string, Parameter>
		headers?: Record<string, JsonObject>
		responses?: Record<string, Response>
		examples?: Record<string, JsonObject>
		securitySchemes?: Record<string, JsonObject>
	}
}

export function resolve(document: OpenApiDocument, parameter: Parameter | { $ref: string }): Parameter {
	if ('in' in parameter) return parameter
	const found = document.components.parameters?.[parameter.$ref.split('/').at(-1) ?? '']
	if (!found) throw new Error(`${parameter.$ref} is not in the document`)
	return found
}

/** The responses of an operation by status, with references resolved. */
export function responsesOf({ components }: OpenApiDocument, { responses }: Operation): Record<string, Response> {
	const entries = Object.entries(responses).map(([status, response]) => {
		if (!('$ref' in response)) return [status, response] as const
		const found = components.responses?.[response.$ref.split('/').at(-1) ?? '']
		if (!found) throw new Error(`${response.$ref} is not in the document`)
		return [status, found] as const
	})
	return Object.fromEntries(entries)
}

/** Whether an operation takes the session of a person, and no key. */
export const isSessionOnly = ({ security = [] }: Operation): boolean =>
	security.length > 0 && security.every((scheme) => Object.keys(scheme).join() === 'SessionCookie')

export function operationsOf(document: OpenApiDocument): Operation[] {
	return Object.values(document.paths).flatMap((methods) => Object.values(methods))
}
