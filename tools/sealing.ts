// Requests are sealed, answers are not: a server rejects a field that it does not know, and a client must take one that a later version adds.
import type { Json, JsonObject, OpenApiDocument } from './openapi.ts'

type Schemas = OpenApiDocument['components']['schemas']

/**
 * The document whose answers may have more fields than it says, of one whose objects are all sealed. A schema of both gets a sealed copy for
 * requests, `…Input`, and one that nothing refers to is left out: normalise.ts writes the enum of a parameter with a default out in its place.
 */
export function openAnswers(document: OpenApiDocument): OpenApiDocument {
	const { schemas } = document.components
	const { asked, answered } = sides(document)
	const shared = new Set([...asked].filter((name) => answered.has(name) && hasSeal(schemas, name)))
	const asInput = (node: Json) => renamed(node, shared)
	const opened = Object.entries(schemas).flatMap(([name, schema]): [string, JsonObject][] => {
		const input = asInput(schema) as JsonObject
		if (shared.has(name))
			return [
				[name, open(schema) as JsonObject],
				[`${name}Input`, input],
			]
		if (asked.has(name)) return [[name, input]]
		return answered.has(name) ? [[name, open(schema) as JsonObject]] : []
	})
	const { paths, webhooks, components } = document
	return {
		...document,
		paths: mapped(paths, (methods) =>
			mapped(methods, (operation) => ({
				...operation,
				...(operation.requestBody && { requestBody: asInput(operation.requestBody as unknown as Json) }),
				responses: open(operation.responses as unknown as Json),
			})),
		) as unknown as OpenApiDocument['paths'],
		components: {
			...components,
			schemas: Object.fromEntries(opened),
			responses: open(components.responses as unknown as Json) as never,
		},
		...(webhooks && { webhooks: open(webhooks) as never }),
	}
}

/** The schemas that requests and answers refer to, directly or through others. What a webhook brings is as an answer. */
export function sides({ paths, webhooks = {}, components }: OpenApiDocument): { asked: Set<string>; answered: Set<string> } {
	const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
	const asked = operations.map(({ requestBody, parameters }) => ({ requestBody, parameters }))
	const answered = operations.map(({ responses }) => responses)
	const of = (...parts: unknown[]) => reachable(components.schemas, parts as Json)
	return { asked: of(asked, components.parameters), answered: of(answered, components.responses, webhooks) }
}

/** The names of the schemas that a part of the document refers to, directly or through others. */
function reachable(schemas: Schemas, part: Json, found = new Set<string>()): Set<string> {
	for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([\w.-]+)"/g)) {
		if (found.has(name)) continue
		found.add(name)
		reachable(schemas, schemas[name] as Json, found)
	}
	return found
}

/** Whether the schema, or one that it refers to, has a sealed object. */
const hasSeal = (schemas: Schemas, name: string) =>
	[name, ...reachable(schemas, schemas[name] as Json)].some((each) =>
		JSON.stringify(schemas[each]).includes('"additionalProperties":false'),
	)

function renamed(node: Json, names: ReadonlySet<string>): Json {
	const text = JSON.stringify(node).replaceAll(/"(#\/components\/schemas\/([\w.-]+))"/g, (reference, path, name) =>
		names.has(name) ? `"${path}Input"` : reference,
	)
	return JSON.parse(text)
}

/** Without the seals, of the part itself and of what is in it. */
function open(node: Json): Json {
	if (Array.isArray(node)) return node.map(open)
	if (node === null || typeof node !== 'object') return node
	const { additionalProperties, ...others } = node
	const kept = additionalProperties === undefined || additionalProperties === false ? others : node
	return mapped(kept, (value, key) => (key === 'examples' || key === 'example' ? value : open(value)))
}

const mapped = <Value, To>(values: Record<string, Value>, to: (value: Value, key: string) => To): Record<string, To> =>
	Object.fromEntries(Object.entries(values).map(([key, value]) => [key, to(value, key)]))
