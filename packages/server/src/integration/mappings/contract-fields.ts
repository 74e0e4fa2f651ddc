// The fields of companies and invoices as the contract has them: nobody lists them by hand.
import { type JsonSchema, resolved, schemas } from '../../platform/contract/document.ts'
import type { Path } from './engine/path.ts'
import type { ValueType } from './engine/values.ts'

/** What a path leads to in a schema: the type of a value, an object, or nothing. */
export function typeAt(schema: string, path: Path): ValueType | 'object' | undefined {
	let found = membersOf({ $ref: `#/components/schemas/${schema}` })
	for (const step of path) found = found.flatMap((member) => ('name' in step ? named(member, step.name) : itemsOf(member)))
	const types = new Set(found.map(({ type }) => valueTypes[String(type)] ?? 'any'))
	if (types.size > 1) return 'any'
	return [...types][0]
}

const valueTypes: Readonly<Record<string, ValueType | 'object'>> = {
	string: 'text',
	integer: 'integer',
	number: 'number',
	boolean: 'boolean',
	array: 'list',
	object: 'object',
}

/** The schemas that a value may fit, but null. */
function membersOf(schema: JsonSchema): JsonSchema[] {
	const whole = resolved(schema)
	const members = Array.isArray(whole.anyOf) ? (whole.anyOf as JsonSchema[]).flatMap(membersOf) : [whole]
	return members.filter(({ type }) => type !== 'null')
}

function named({ properties = {}, additionalProperties }: JsonSchema, name: string): JsonSchema[] {
	const own = properties as Record<string, JsonSchema>
	if (Object.hasOwn(own, name)) return membersOf(own[name] as JsonSchema)
	return typeof additionalProperties === 'object' ? membersOf(additionalProperties as JsonSchema) : []
}

const itemsOf = ({ items }: JsonSchema): JsonSchema[] => (items ? membersOf(items as JsonSchema) : [])

/** The fields without which a record cannot be created. */
export const requiredFields = (schema: string): readonly string[] => (schemas[schema]?.required ?? []) as string[]
