// The server's tables of records: the fields of each, and the fields that are null in a new one.
import { eventSchemas } from './event-docs.ts'
import type { JsonObject, OpenApiDocument } from './openapi.ts'

/** Records, which are rows of the database, are the schemas with an id and an `organizationId` or (the settings) a `version`. */
export function recordFields(document: OpenApiDocument): Record<string, Record<string, string>> {
	const found: Record<string, Record<string, string>> = {}
	for (const [name, properties] of withId(document)) {
		if (!properties.organizationId && !properties.version) continue
		found[name] = Object.fromEntries(Object.entries(properties).map(([field, type]) => [field, fieldType(document, type)]))
	}
	return found
}

const fieldTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean'])

function fieldType(document: OpenApiDocument, schema: JsonObject): string {
	if (typeof schema.$ref === 'string')
		return fieldType(document, document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
	if (Array.isArray(schema.anyOf)) {
		const kinds = (schema.anyOf as JsonObject[])
			.filter((member) => member.type !== 'null')
			.map((member) => fieldType(document, member))
		return commonType(new Set(kinds))
	}
	if (schema.type === 'string' && schema.enum) return 'word'
	if (fieldTypes.has(schema.type as string)) return schema.type as string
	return 'json'
}

const commonType = (types: ReadonlySet<string>): string => {
	const [type = 'json', ...others] = types
	if (others.length === 0) return type
	return [...types].every((each) => each === 'word' || each === 'string') ? 'string' : 'json'
}

/** The fields that may be null, by schema: those of records, of an organization's settings, and of line items. */
export function blanks(document: OpenApiDocument): Record<string, Record<string, null>> {
	const found = withId(document).map(([name, properties]) => {
		const nullable = Object.keys(properties).filter((field) => isNullable(properties[field]))
		return [name, Object.fromEntries(nullable.map((field) => [field, null]))] as const
	})
	return Object.fromEntries(found.filter(([, blank]) => Object.keys(blank).length > 0))
}

/** The fields of the schemas that are shown without a key, without the envelopes around them. */
export function publicFields(document: OpenApiDocument): Record<string, string[]> {
	const open = Object.entries(document.components.schemas).filter(([name]) => /^Public.*(?<!Data|List)$/.test(name))
	return Object.fromEntries(open.map(([name, { properties }]) => [name, Object.keys(properties as JsonObject)]))
}

/** The properties of each schema with a required id, except events. */
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
