// The example of a schema of the document.
import { type Json, type JsonObject, type MediaType, type OpenApiDocument, responsesOf } from './openapi.ts'

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

/** The examples of a body by their names; without any, that of its schema. */
export function examplesOf(
	document: OpenApiDocument,
	{ schema, examples }: MediaType,
): [name: string, value: Json | undefined][] {
	if (!examples) return [['', exampleOf(document, schema)]]
	return Object.entries(examples).map(([name, example]) => {
		if ('value' in example) return [name, example.value]
		return [name, document.components.examples?.[example.$ref.split('/').at(-1) as string]?.value]
	})
}

/** What the operation answers that makes a record has an example with an id of each kind, where operations share it. */
export function describeCreated(document: OpenApiDocument): void {
	for (const [path, methods] of Object.entries(document.paths)) {
		for (const operation of Object.values(methods)) {
			const media = responsesOf(document, operation)['201']?.content?.['application/json']
			const body = media && exampleOf(document, media.schema)
			const id = idAt(document, `${path}/{id}`)
			if (!media || !id || !(body as JsonObject).id) continue
			media.examples = { ...media.examples, [operation.operationId]: { value: { ...(body as JsonObject), id } } }
		}
	}
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
