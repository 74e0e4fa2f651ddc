// Describes the event types of the contract for `GET /webhooks/event-types`, each with a self-contained schema.

import { eventTypes } from '../../generated/tables.ts'
import { type JsonSchema, schemas } from '../contract/document.ts'

let described: readonly string[] | undefined

/** Each type as JSON text. Made at the first call and then cached. */
export function describedTypes(): readonly string[] {
	described ??= Object.entries(eventTypes).map(([type, name]) => {
		const { description, examples } = schemas[name] as { description: string; examples: [object] }
		return JSON.stringify({ type, description, schema: standalone(name), example: examples[0] })
	})
	return described
}

const place = '#/components/schemas/'

/** The schema with all schemas that it refers to under `$defs`. */
function standalone(name: string): object {
	const needed = new Map<string, JsonSchema>()
	const collect = (next: string) => {
		if (needed.has(next)) return
		const { examples, ...schema } = schemas[next] as JsonSchema
		needed.set(next, schema)
		for (const [, found] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) collect(found as string)
	}
	collect(name)
	const { [name]: schema, ...others } = Object.fromEntries(needed)
	const text = JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema, $defs: others })
	return JSON.parse(text.replaceAll(`"${place}`, '"#/$defs/'))
}
