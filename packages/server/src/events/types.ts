// The types of event as `GET /webhooks/event-types` describes them: from the contract, each with a schema that stands alone.
import { type JsonSchema, schemas } from '../contract/document.ts'
import { eventTypes } from '../generated/tables.ts'

let described: readonly string[] | undefined

/** Each type as JSON text, made when it is first asked for. */
export function describedTypes(): readonly string[] {
	described ??= Object.entries(eventTypes).map(([type, name]) => {
		const { description, examples } = schemas[name] as { description: string; examples: [object] }
		return JSON.stringify({ type, description, schema: standalone(name), example: examples[0] })
	})
	return described
}

const place = '#/components/schemas/'

/** A schema with everything that it refers to under `$defs`. */
function standalone(name: string): object {
	const needed = new Map<string, JsonSchema>()
	const collect = (next: string) => {
		if (needed.has(next)) return
		const { examples, ...schema } = schemas[next] as JsonSchema
		needed.set(next, schema)
		for (const [, found] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) collect(found as string)
	}
	collect(name)
	const { [name]: own, ...others } = Object.fromEntries(needed)
	const text = JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...own, $defs: others })
	return JSON.parse(text.replaceAll(`"${place}`, '"#/$defs/'))
}
