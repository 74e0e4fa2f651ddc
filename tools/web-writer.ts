// Writes what the web application knows of the contract besides types: the rules of the fields of each input model, and how many
// places currencies have.
import currencies from 'currency-codes'
import { type JsonObject, type OpenApiDocument, operationsOf } from './openapi.ts'

const kept = ['minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'minItems', 'maxItems', 'enum', 'format'] as const

/** One export a model, so that a page holds only those that it uses. */
export function writeFields(document: OpenApiDocument, banner: string): string {
	const models = [...bodyModels(document)].toSorted().map((name) => {
		const { properties = {}, required = [] } = resolve(document, { $ref: `#/components/schemas/${name}` })
		const fields = Object.entries(properties as Record<string, JsonObject>).map(([field, schema]) => {
			const rules = rulesOf(document, schema, (required as string[]).includes(field))
			return `\t${field}: ${JSON.stringify(rules)},\n`
		})
		return `export const ${name} = {\n${fields.join('')}} as const\n`
	})
	return `// ${banner}\n\n${models.join('\n')}`
}

/** The models of all bodies, and the objects in them. */
function bodyModels(document: OpenApiDocument): Set<string> {
	const names = new Set<string>()
	const add = (schema: JsonObject | undefined): void => {
		for (const name of namesIn(schema)) {
			const { properties } = resolve(document, { $ref: `#/components/schemas/${name}` })
			if (names.has(name) || !properties) continue
			names.add(name)
			Object.values(properties as Record<string, JsonObject>).forEach(add)
		}
	}
	for (const { requestBody } of operationsOf(document))
		for (const { schema } of Object.values(requestBody?.content ?? {})) add(schema)
	return names
}

/** The names of the models that a schema is, may be, or has in a list. */
function namesIn(schema: JsonObject | undefined): string[] {
	if (!schema) return []
	if (typeof schema.$ref === 'string') return [schema.$ref.split('/').at(-1) as string]
	const parts = [schema.items, ...lists(schema)] as (JsonObject | undefined)[]
	return parts.flatMap(namesIn)
}

const lists = (schema: JsonObject) =>
	(['anyOf', 'oneOf', 'allOf'] as const).flatMap((name) => (schema[name] as JsonObject[] | undefined) ?? [])

/** Follows references, and merges what a schema is made of; `null` among the choices only says that it may be cleared. */
function resolve(document: OpenApiDocument, schema: JsonObject): JsonObject {
	const { $ref, ...rest } = schema
	const target = typeof $ref === 'string' ? document.components.schemas[$ref.split('/').at(-1) as string] : undefined
	const parts = [...(target ? [target] : []), ...lists(rest).filter(({ type }) => type !== 'null')]
	return Object.assign({}, ...parts.map((part) => resolve(document, part)), rest)
}

function rulesOf(document: OpenApiDocument, schema: JsonObject, required: boolean): JsonObject {
	const whole = resolve(document, schema)
	const types = [whole.type].flat() as string[]
	const nullable = types.includes('null') || lists(schema).some(({ type }) => type === 'null')
	const rules = kept.flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name]]]))
	return {
		type: types.find((type) => type !== 'null') ?? 'string',
		...Object.fromEntries(
			[
				['required', required],
				['nullable', nullable],
			].filter(([, is]) => is),
		),
		...Object.fromEntries(rules),
	}
}

/** `Intl` has CLDR's places, which are not ISO 4217's: amounts of some currencies would be a thousand times too large. */
export function writeCurrencies(banner: string): string {
	const codes = currencies.codes().map((code) => [code, currencies.code(code)?.digits ?? 2] as const)
	const special = Object.fromEntries(codes.filter(([, digits]) => digits !== 2).toSorted(([a], [b]) => (a < b ? -1 : 1)))
	return `// ${banner}

const places: Readonly<Record<string, number>> = ${JSON.stringify(special, null, '\t')}

/** How many places the amounts of a currency have (ISO 4217). */
export const digitsOf = (currency: string): number => places[currency] ?? 2
`
}
