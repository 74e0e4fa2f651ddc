// The example of a schema of the document.
import { type Json, type JsonObject, type OpenApiDocument, responsesOf } from './openapi.ts'

/** The schema's own example; for an envelope, one built from the examples of its properties. */
export function exampleOf(document: OpenApiDocument, schema: JsonObject): Json | undefined {
	const [first] = (schema.examples ?? []) as Json[]
	if (first !== undefined) return first
	if (typeof schema.$ref === 'string') return exampleOf(document, referenced(document, schema.$ref))
	if (schema.type === 'array') {
		const item = exampleOf(document, schema.items as JsonObject)
		return item === undefined ? undefined : [item]
	}
	if (!schema.properties) return undefined
	const parts = Object.entries(schema.properties as Record<string, JsonObject>).map(([name, part]) => [
		name,
		exampleOf(document, part),
	])
	return parts.some(([, part]) => part === undefined) ? undefined : Object.fromEntries(parts)
}

/** The id of the record that is read at a path, in the example of the answer. */
export function idAt(document: OpenApiDocument, path: string): string | undefined {
	const read = document.paths[path]?.get
	const [envelope] = read ? Object.values(responsesOf(document, read)['200']?.content ?? {}) : []
	const { data } = (exampleOf(document, envelope?.schema ?? {}) ?? {}) as { data?: { id?: string } }
	return data?.id
}

/** The schema that a reference names. */
export function referenced(document: OpenApiDocument, reference: string): JsonObject {
	return document.components.schemas[reference.replace('#/components/schemas/', '')] ?? {}
}
