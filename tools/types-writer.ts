// Writes packages/sdk/src/generated/contract.ts: the types of the contract by openapi-typescript, without what their readers do not
// need. The document has the examples, the classes of the SDK the prose of operations.
import openapiTypescript, { astToString } from 'openapi-typescript'
import type { Json, JsonObject, OpenApiDocument } from './openapi.ts'

/** Leaves the webhooks and their headers out: neither the server nor the SDK calls them, and their payloads are schemas. */
export async function writeTypes({ webhooks, ...whole }: OpenApiDocument, banner: string): Promise<string> {
	const inPaths = JSON.stringify(whole.paths)
	const { parameters = {}, responses = {} } = whole.components
	const used = (kind: string, all: object) =>
		Object.fromEntries(Object.entries(all).filter(([name]) => inPaths.includes(`"#/components/${kind}/${name}"`)))
	const components = {
		...whole.components,
		examples: {},
		parameters: used('parameters', parameters),
		responses: used('responses', responses),
	}
	const document = { ...whole, components }
	const nodes = await openapiTypescript(readable(document as unknown as Json) as never, {
		alphabetize: false,
		defaultNonNullable: false,
		rootTypes: true,
		rootTypesNoSchemaPrefix: true,
	})
	const [, paths = '', others = ''] = /^(export interface paths \{.*?^\}\n)(.*)$/ms.exec(astToString(nodes)) ?? []
	return `// ${banner}\n\n${indented(methodsOf(paths) + named(others))}\n${errorCodeOf}`
}

const errorCodeOf = `/** The codes of the errors that an operation may answer. */
export type ErrorCodeOf<Id extends keyof operations> = {
	[Status in keyof operations[Id]['responses']]: operations[Id]['responses'][Status] extends {
		content: { 'application/problem+json': { code: infer Code } }
	}
		? Code
		: never
}[keyof operations[Id]['responses']]
`

/** Of each path only the methods that it has. */
const methodsOf = (paths: string) =>
	withoutNever(paths)
		.replaceAll(/^ {8}parameters: \{\n {8}\};\n/gm, '')
		.replaceAll(/^ *\/\*\*(?:(?!\*\/).)*\*\/\n/gms, '')

const withoutNever = (text: string) => text.replaceAll(/^ +\w+\?: never;\n/gm, '')

/**
 * Models by the names that the file exports; comments without formats, which say nothing to a reader, and once of the parameters that
 * many operations share. A query keeps its comments, because the SDK's types of queries are made of it.
 */
const named = (text: string) =>
	text
		.replaceAll(/(?<!^export type \w+ = )components\["schemas"\]\["(\w+)"\]/gm, '$1')
		.replaceAll(
			/^( +\/\*\*)\n +\* Format: .*\n( +\* @description .*)\n +\*\//gm,
			(_, start, line) => `${start} ${line.trim().slice(2)} */`,
		)
		.replaceAll(/^ +\/\*\* @enum .* \*\/\n/gm, '')
		.replaceAll(/^ +\* @enum .*\n/gm, '')
		.replaceAll(/^ +\/\*\* Format: .* \*\/\n/gm, '')
		.replaceAll(/^ +\* Format: .*\n/gm, '')
		.replaceAll(/^ +cookie\?: never;\n/gm, '')
		.replaceAll(
			/^( {12}(?:header|path)\??: \{\n)((?: {16}.*\n)+)/gm,
			(_, start, fields) => start + fields.replaceAll(shared, '$1'),
		)

const shared = /^ +\/\*\*(?:(?!\*\/).)*\*\/\n([^\n]*components\["parameters"\][^\n]*\n)/gms

const indented = (text: string) => text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))

/** Leaves out examples and discriminators, and of errors what follows from their codes; each value of an enum gets its sentence. */
function readable(node: Json): Json {
	if (Array.isArray(node)) return node.map(readable)
	if (node === null || typeof node !== 'object') return node
	const isError = (node.content as JsonObject | undefined)?.['application/problem+json'] !== undefined
	const { examples, example, discriminator, 'x-enumDescriptions': sentences = {}, description, headers, ...rest } = node
	const values = Object.entries(sentences as JsonObject).map(([value, sentence]) => `- \`${value}\`: ${sentence}`)
	const kept = {
		...rest,
		...(description !== undefined && !isError && { description: withValues(description, values) }),
		...(headers !== undefined && !isError && { headers }),
	}
	return mapped(kept as JsonObject, (value, key) =>
		key === 'properties' ? mapped(value as JsonObject, readable) : readable(value),
	)
}

const mapped = (node: JsonObject, to: (value: Json, key: string) => Json): JsonObject =>
	Object.fromEntries(Object.entries(node).map(([key, value]) => [key, to(value, key)]))

const withValues = (description: Json, values: string[]): Json =>
	values.length > 0 ? [description, '', ...values].join('\n') : description
