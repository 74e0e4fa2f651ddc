// What the server's tables say of records: their fields, and what is null in a new one.
import { eventSchemas } from './event-docs.ts'
import type { JsonObject, OpenApiDocument } from './openapi.ts'

/** Records are the schemas with an id that belong to an organization or, like its settings, have a version: rows of the database. */
export function recordFields(document: OpenApiDocument): Record<string, Record<string, string>> {
	const found: Record<string, Record<string, string>> = {}
	for (const [name, properties] of withId(document)) {
		if (!properties.organizationId && !properties.version) continue
		found[name] = Object.fromEntries(Object.entries(properties).map(([field, type]) => [field, fieldType(document, type)]))
	}
	return found
}

function fieldType(document: OpenApiDocument, schema: JsonObject): string {
	if (typeof schema.$ref === 'string')
		return fieldType(document, document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
	if (Array.isArray(schema.anyOf)) {
		const kinds = (schema.anyOf as JsonObject[])
			.filter((member) => member.type !== 'null')
			.map((member) => fieldType(document, member))
		return kinds.every((kind) => kind === kinds[0]) ? (kinds[0] ?? 'json') : 'json'
	}
	if (schema.type === 'integer' || schema.type === 'number') return 'number'
	if (schema.type === 'boolean' || schema.type === 'string') return schema.type
	return 'json'
}

/** The fields that may be null, by what has them: records, an organization's settings, line items. */
export function blanks(document: OpenApiDocument): Record<string, Record<string, null>> {
	const found = withId(document).map(([name, properties]) => {
		const nullable = Object.keys(properties).filter((field) => isNullable(properties[field]))
		return [name, Object.fromEntries(nullable.map((field) => [field, null]))] as const
	})
	return Object.fromEntries(found.filter(([, blank]) => Object.keys(blank).length > 0))
}

/** The fields of what is shown without a key; not of the envelopes around it. */
export function publicFields(document: OpenApiDocument): Record<string, string[]> {
	const open = Object.entries(document.components.schemas).filter(([name]) => /^Public.*(?<!Data|List)$/.test(name))
	return Object.fromEntries(open.map(([name, { properties }]) => [name, Object.keys(properties as JsonObject)]))
}

/** The properties of each schema that always has an id, but for events. */
function withId(document: OpenApiDocument): [name: string, properties: Record<string, JsonObject>][] {
	const events = new Set([...eventSchemas(document).values()].map(({ name }) => name))
	return Object.entries(document.components.schemas).flatMap(([name, { properties = {}, required = [] }]) => {
		const { id } = properties as Record<string, JsonObject>
		if (!id || isNullable(id) || !(required as string[]).includes('id') || events.has(name)) return []
		return [[name, properties as Record<string, JsonObject>]]
	})
}

const isNullable = (schema: JsonObject | undefined) =>
	((schema?.anyOf ?? []) as JsonObject[]).some((member) => member.type === 'null')
