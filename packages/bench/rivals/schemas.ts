// The contract's schemas in the form that makes Fastify fastest: references resolved, and `anyOf: [X, null]` as a nullable X,
// because its serializer would otherwise validate the value to find the branch.
import document from '../../server/src/generated/openapi.json' with { type: 'json' }

type Schema = { [keyword: string]: unknown }

const schemas: Record<string, Schema> = document.components.schemas
const parameters: Record<string, unknown> = document.components.parameters

/** A component schema of the contract. */
export const schemaOf = (name: string) => flat(schemas[name] as Schema) as Schema

/** The schema of a GET operation's query. */
export function queryOf(path: '/api/invoices' | '/api/companies'): Schema {
	const all = (document.paths[path].get.parameters as Schema[]).map(resolveParameter)
	const properties = all.map(({ name, schema }) => [name, flat(schema as Schema)])
	return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) }
}

function resolveParameter(parameter: Schema): Schema {
	if (typeof parameter.$ref !== 'string') return parameter
	return parameters[parameter.$ref.replace('#/components/parameters/', '')] as Schema
}

function flat(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(flat)
	if (typeof value !== 'object' || value === null) return value
	const { $ref, anyOf, properties, description: _description, examples: _examples, ...rest } = value as Schema
	const own = each(rest)
	if (properties) own.properties = each(properties as Schema)
	if (typeof $ref === 'string') return { ...(flat(schemas[$ref.replace('#/components/schemas/', '')]) as Schema), ...own }
	return Array.isArray(anyOf) ? { ...own, ...union(anyOf) } : own
}

const each = (map: Schema): Schema => Object.fromEntries(Object.entries(map).map(([name, part]) => [name, flat(part)]))

function union(anyOf: readonly Schema[]): Schema {
	const members = anyOf.filter(({ type }) => type !== 'null').map(flat) as Schema[]
	const nullable = members.length < anyOf.length
	const [only] = members
	if (members.length === 1 && nullable && only?.type) return { ...only, nullable: true }
	return { anyOf: nullable ? [...members, { type: 'null' }] : members }
}

const invoice = schemaOf('Invoice')

/** An invoice, and a list of them, as this server answers without `expand` and `fields`, which would need a choice of schemas. */
export const invoiceData = { type: 'object', required: ['data'], properties: { data: invoice } }
export const invoiceList = { type: 'object', required: ['data'], properties: { data: { type: 'array', items: invoice } } }

export const idParams = { type: 'object', required: ['id'], properties: { id: schemaOf('Id') } }
