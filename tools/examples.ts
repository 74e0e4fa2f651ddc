// The example of a schema of the document.
import type { Json, JsonObject, OpenApiDocument } from './openapi.ts'

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

/** The schema that a reference names. */
export function referenced(document: OpenApiDocument, reference: string): JsonObject {
	return document.components.schemas[reference.replace('#/components/schemas/', '')] ?? {}
}
