// Writes packages/sdk/src/generated/contract.ts: the types of the contract by openapi-typescript, without what their readers do not
// need. The document has the examples, the classes of the SDK the prose of operations.
import openapiTypescript, { astToString } from 'openapi-typescript'
import { eventSchemas, kindOfEvent, nameIn } from './event-docs.ts'
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
	})
	const found = parts.exec(brief(astToString(nodes)))
	if (!found) throw new Error('openapi-typescript writes other parts, or in another order')
	const [, paths = '', models = '', answers = '', named = '', headers = '', operations = ''] = found
	const types = withEvents(whole, hoisted(models, '') + hoisted(answers, 'Answer')) + operations
	const inlined = types
		.replaceAll(/components\["responses"\]\["(\w+)"\]/g, '$1Answer')
		.replaceAll(/components\["parameters"\]\["([\w.]+)"\]/g, (_, name) => typeOf(named, name))
		.replaceAll(/components\["headers"\]\["([\w-]+)"\]/g, (_, name) => typeOf(headers, name))
		.replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1')
	const text = withPages(methodsOf(paths) + inlined)
	return `// ${banner}\n\n${indented(text)}\n${helpers}\n${errorCodeOf}`
}

/** What openapi-typescript writes, from which each model and each shared answer is taken as a type of its own. */
const parts =
	/^(export interface paths \{.*?^\}\n).*^ {4}schemas: \{\n(.*?)^ {4}\};\n^ {4}responses: \{\n(.*?)^ {4}\};\n^ {4}parameters: \{\n(.*?)^ {4}\};\n.*^ {4}headers: \{\n(.*?)^ {4}\};\n.*(^export interface operations \{.*)$/ms

/** The entries of a part as exported types. */
const hoisted = (entries: string, suffix: string) =>
	entries.replaceAll(/^ {8}/gm, '').replaceAll(/^(\w+): /gm, `export type $1${suffix} = `)

/** The type of a shared parameter or header. */
function typeOf(parameters: string, name: string): string {
	const entry = parameters.split('\n').find((line) => /^ +"?([\w.-]+)"?: /.exec(line)?.[1] === name)
	return String(entry).replace(/^ +"?[\w.-]+"?: (.*);$/, '$1')
}

/** The models of events by one type, in which they differ by three others. */
function withEvents(document: OpenApiDocument, text: string): string {
	const [first] = [...eventSchemas(document)]
	if (!first) return text
	const bodyOf = (name: string) => new RegExp(`^export type ${name} = (\\{\\n.*?^\\});\\n`, 'ms').exec(text)?.[1] ?? ''
	const model = (schema: JsonObject) => nameIn((schema.properties as Record<string, JsonObject>).data)
	const generic = ([type, { name, schema }]: typeof first) =>
		bodyOf(name)
			.replace(`type: "${type}";`, 'type: Type;')
			.replace(`type: "${kindOfEvent(schema)}";`, 'type: Kind;')
			.replace(`data: components["schemas"]["${model(schema)}"];`, 'data: Data;')
	const shape = generic(first)
	const short = [...eventSchemas(document)].reduce((shorter, event) => {
		const [type, { name, schema }] = event
		if (generic(event) !== shape) throw new Error(`${name} has not the fields of every event`)
		return shorter.replace(bodyOf(name), `EventOf<"${type}", "${kindOfEvent(schema)}", ${model(schema)}>`)
	}, text)
	return `/** An event about a record. */\nexport type EventOf<Type extends string, Kind extends string, Data> = ${shape};\n${short}`
}

/** Takes out of the queries of lists what all of them have. */
function withPages(text: string): string {
	const [, page] = /^ {12}query\?: \{\n((?:(?!^ {12}\}).*\n)*? {16}cursor\?: .*\n) {12}\};/m.exec(text) ?? []
	if (!page) return text
	return `${text.replaceAll(`${page}            };`, '            } & PageQuery;')}\nexport interface PageQuery {\n${page.replaceAll(/^ {12}/gm, '')}}\n`
}

/** The answer of an error, by its codes. */
const helpers = `export interface ProblemAnswer<Code extends string> {
	content: { 'application/problem+json': Problem & { code?: Code } }
}
`

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
 * Comments without formats, which say nothing to a reader, and once of the parameters that many operations share. A query keeps its comments,
 * because the SDK's types of queries are made of it. Of the headers of answers it leaves those that every one has.
 */
const brief = (text: string) =>
	text
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
		.replaceAll(/^ +\[name: string\]: unknown;\n/gm, '')
		.replaceAll(/^ +(?:"X-(?:Request-Id|Contract-Version|RateLimit-\w+)"|Link): components.*\n/gm, '')
		.replaceAll(/^ +headers: \{\n +\};\n/gm, '')
		.replaceAll(
			/\{\n +content: \{\n +"application\/problem\+json": .*? & \{\n +code\?: (.*);\n +\};\n +\};\n +\}/g,
			'ProblemAnswer<$1>',
		)
		.replaceAll(/^ +content\?: never;\n/gm, '')
		.replaceAll('@description ', '')
		.replaceAll(/^ +\/\*\*(?:(?!\*\/).)*\*\/\n( +\d{3}: )/gms, '$1')
		.replaceAll(/\/\*\*\n +\* (.*)\n +\*\//g, '/** $1 */')

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
		...(headers !== undefined && !isError && { headers }),
		...(description !== undefined && !isError && { description: withValues(description, values) }),
	}
	return mapped(kept as JsonObject, (value, key) =>
		key === 'properties' ? mapped(value as JsonObject, readable) : readable(value),
	)
}

const mapped = (node: JsonObject, to: (value: Json, key: string) => Json): JsonObject =>
	Object.fromEntries(Object.entries(node).map(([key, value]) => [key, to(value, key)]))

const withValues = (description: Json, values: string[]): Json =>
	values.length > 0 ? [description, '', ...values].join('\n') : description
