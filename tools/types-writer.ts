// Writes packages/sdk/src/generated/contract.ts: the types of the contract by openapi-typescript, without what their readers do not
// need. The document has the examples, the classes of the SDK the prose of operations.
import openapiTypescript, { astToString } from 'openapi-typescript'
import { eventSchemas, kindOfEvent, nameIn } from './event-docs.ts'
import { type Json, type JsonObject, type OpenApiDocument, operationsOf } from './openapi.ts'
import { pascal } from './sdk-methods.ts'

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
	const types = withEvents(whole, extending(hoisted(models, '')) + hoisted(answers, 'Answer')) + brieflyOf(whole, operations)
	const inlined = types
		.replaceAll(/components\["responses"\]\["(\w+)"\]/g, '$1Answer')
		.replaceAll(/components\["parameters"\]\["([\w.]+)"\]/g, (_, name) => typeOf(named, name))
		.replaceAll(/components\["headers"\]\["([\w-]+)"\]/g, (_, name) => typeOf(headers, name))
		.replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1')
	const text = withPages(methodsOf(paths) + withEventPatterns(whole, inlined))
	return `// ${banner}\n\n${indented(text)}\n${helpers}\n${errorCodeOf}`
}

/** What openapi-typescript writes, from which each model and each shared answer is taken as a type of its own. */
const parts =
	/^(export interface paths \{.*?^\}\n).*^ {4}schemas: \{\n(.*?)^ {4}\};\n^ {4}responses: \{\n(.*?)^ {4}\};\n^ {4}parameters: \{\n(.*?)^ {4}\};\n.*^ {4}headers: \{\n(.*?)^ {4}\};\n.*(^export interface operations \{.*)$/ms

/** The entries of a part as exported types. */
const hoisted = (entries: string, suffix: string) =>
	entries.replaceAll(/^ {8}/gm, '').replaceAll(/^(\w+): /gm, `export type $1${suffix} = `)

/** A model that has all fields of another one extends it. */
function extending(text: string): string {
	const models = [...text.matchAll(/^export type (\w+) = \{\n(.*?)^\};\n/gms)].map(([, name = '', body = '']) => ({
		name,
		fields: [...(body.match(/(?:^ {4}\/\*\*(?:(?!\*\/).)*\*\/\n)?^ {4}[\w"].*?\n(?! {5,}| {4}\})/gms) ?? [])],
	}))
	const bases = models.filter(({ fields }) => fields.length >= fewestFields).sort((a, b) => b.fields.length - a.fields.length)
	return models.reduce((shorter, { name, fields }) => {
		const own = new Set(fields)
		const base = bases.find((other) => other.fields.length < fields.length && other.fields.every((field) => own.has(field)))
		if (!base) return shorter
		const rest = fields.filter((field) => !base.fields.includes(field)).join('')
		return shorter.replace(
			`export type ${name} = {\n${fields.join('')}};`,
			() => `export type ${name} = ${base.name} & {\n${rest}};`,
		)
	}, text)
}

const fewestFields = 4

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

/** The patterns of events by name, which an editor completes; a server of a later version has others, too. */
function withEventPatterns({ components }: OpenApiDocument, text: string): string {
	const kindsOf = (type: string) => [...type.matchAll(/\./g)].map(({ index }) => `"${type.slice(0, index)}.*"`)
	const kinds = new Set(((components.schemas.EventType?.enum ?? []) as string[]).flatMap(kindsOf))
	const patterns = ['EventType', ...kinds, '"*"', '(string & Record<never, never>)']
	return text.replace('export type EventPattern = string;', `export type EventPattern = ${patterns.join(' | ')};`)
}

/**
 * The operations, of which one that repeats another refers to it, without what is the same for all, and with the errors that many of them have as
 * a type of its own.
 */
function brieflyOf(document: OpenApiDocument, operations: string): string {
	const aliases = new Map(operationsOf(document).map((operation) => [operation.operationId, operation['x-alias-of']]))
	const text = operations
		.replaceAll(/^ {4}"([\w.]+)": \{\n.*?^ {4}\};\n/gms, (operation, id) => {
			const original = aliases.get(id)
			return original === undefined ? operation : `    "${id}": operations["${original}"];\n`
		})
		.replaceAll(/^ {8}(?: {4}(?:header|path)|requestBody)\?: never;\n/gm, '')
		.replaceAll(/\{\n +content: \{\n +"application\/json": (.*);\n +\};\n +\}/g, 'JsonBody<$1>')
	return withSharedErrors(text)
}

/** What every key, body or server can be answered, in the order of their statuses. */
const general = /^ {12}(?:400|401|403|413|415|429|500|503): .*\n/gm

function withSharedErrors(operations: string): string {
	const answersOf = /^ {4}"([\w.]+)": \{\n(?:(?!^ {4}\}).*\n)*? {8}responses: \{\n((?: {12}.*\n)*) {8}\};\n/gm
	const found = [...operations.matchAll(answersOf)].map(([, id = '', answers = '']) => ({ id, errors: generalOf(answers) }))
	const shared = [...Map.groupBy(found, ({ errors }) => errors)].filter(([, places]) => places.length > 1)
	const nameOf = new Map(shared.map(([errors, [first]]) => [errors, `ErrorsOf${pascal((first?.id ?? '').split('.'))}`]))
	const text = operations.replaceAll(/^ {8}responses: \{\n((?: {12}.*\n)*) {8}\};\n/gm, (whole, answers) => {
		const name = nameOf.get(generalOf(answers))
		return name === undefined ? whole : `        responses: {\n${answers.replaceAll(general, '')}        } & ${name};\n`
	})
	const types = [...nameOf].map(([errors, name]) => `export interface ${name} {\n${errors.replaceAll(/^ {8}/gm, '')}}\n`)
	return types.join('') + text
}

const generalOf = (answers: string) => (answers.match(general) ?? []).join('')

/** Takes out of the queries of lists what all of them have. */
function withPages(text: string): string {
	const [, page] = /^ {12}query\?: \{\n((?:(?!^ {12}\}).*\n)*? {16}cursor\?: .*\n) {12}\};/m.exec(text) ?? []
	if (!page) return text
	return `${text.replaceAll(`${page}            };`, '            } & PageQuery;')}\nexport interface PageQuery {\n${page.replaceAll(/^ {12}/gm, '')}}\n`
}

/** What is JSON, and the answer of an error by its codes. */
const helpers = `export interface JsonBody<Body> {
	content: { 'application/json': Body }
}

export interface ProblemAnswer<Code extends string> {
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
		// So far in it is code, not a list.
		.replaceAll(/^( +\*) {5}- /gm, '$1 - ')
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
