// Writes the SDK's table of contents: a class per resource, a method per operation, all prose from the contract. A method
// is one line of data for packages/sdk/src/transport.ts; how it is sent stands there.
import type { Json, JsonObject, OpenApiDocument, Operation, Parameter, Response } from './normalise.ts'
import { methodDocs } from './sdk-docs.ts'
import { resolve } from './server-writer.ts'

interface Resource {
	/** `['invoices', 'clientLink']` for `remit.invoices.clientLink`. */
	path: string[]
	methods: Method[]
	children: Resource[]
}

export interface Method {
	operation: Operation
	verb: string
	path: string
	ids: Parameter[]
	body: { model: string; required: boolean; description: string; example: Json | undefined } | undefined
	/** Name of the interface of the query. */
	query: string | undefined
	options: string[]
	answer: Answer
}

interface Answer {
	/** The transport's function: the whole body, its `data`, a page of a list, or a file. */
	kind: 'send' | 'record' | 'page' | 'bytes'
	type: string
	models: string[]
	description: string
	/** The default limit of a list. */
	pageSize?: number
	/** The media type of a file. */
	file?: string
}

export function writeResources(document: OpenApiDocument, banner: string): string {
	const root: Resource = { path: [], methods: [], children: [] }
	for (const [path, operations] of Object.entries(document.paths)) {
		for (const [verb, operation] of Object.entries(operations)) {
			if (operation['x-alias-of']) continue
			const names = operation.operationId.split('.').slice(0, -1)
			names.reduce(child, root).methods.push(describe(document, verb.toUpperCase(), path, operation))
		}
	}
	const resources = descendants(root)
	const methods = resources.flatMap((resource) => resource.methods)
	return `// ${banner}\n${[imports(methods), models(document), ...[root, ...resources].map(resourceClass)].join('\n\n')}\n`
}

function child(parent: Resource, name: string): Resource {
	const found = parent.children.find((resource) => resource.path.at(-1) === name)
	if (found) return found
	const added: Resource = { path: [...parent.path, name], methods: [], children: [] }
	parent.children.push(added)
	return added
}

const descendants = (resource: Resource): Resource[] => resource.children.flatMap((next) => [next, ...descendants(next)])

// ── What the contract says of an operation ───────────────────────────────────────────────────────────────────────────

function describe(document: OpenApiDocument, verb: string, path: string, operation: Operation): Method {
	const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter))
	const inside = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place)
	const ids = inside('path')
	const query = inside('query').length > 0 ? `${pascal(operation.operationId.split('.'))}Query` : undefined
	const options = optionTypes(operation, inside('header'))
	return {
		operation,
		verb,
		path,
		ids,
		body: body(document, operation),
		query,
		options,
		answer: answer(document, operation, inside('query')),
	}
}

function body(document: OpenApiDocument, operation: Operation): Method['body'] {
	if (!operation.requestBody) return undefined
	const model = modelName(operation.requestBody.content['application/json']?.schema, `the body of ${operation.operationId}`)
	const { description = '', examples } = document.components.schemas[model] as { description?: string; examples?: Json[] }
	return { model, required: operation.requestBody.required ?? false, description, example: examples?.[0] }
}

/** The options that stand for a header. `If-None-Match` has none: a 304 carries no record to return. */
const headerOptions: Record<string, string[]> = {
	'Idempotency-Key': ['IdempotentRequestOptions'],
	'If-Match': ['ConditionalRequestOptions'],
	'If-None-Match': [],
}

function optionTypes(operation: Operation, headers: Parameter[]): string[] {
	const types = headers.flatMap(({ name }) => {
		const types = headerOptions[name]
		if (!types) throw new Error(`${operation.operationId}: the SDK has no option for the header ${name}`)
		return types
	})
	return types.length > 0 ? types : ['RequestOptions']
}

function answer(document: OpenApiDocument, operation: Operation, query: Parameter[]): Answer {
	const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? []
	const { content } = success as Response
	if (!content) return { kind: 'send', type: 'ApiPromise<void>', models: [], description: '' }
	const [file] = Object.keys(content).filter((type) => type !== 'application/json')
	if (file) return { kind: 'bytes', type: 'ApiPromise<Uint8Array>', models: [], description: `The file's bytes: ${file}.`, file }
	const model = modelName(content['application/json']?.schema, `the answer of ${operation.operationId}`)
	const { properties = {}, description = '' } = document.components.schemas[model] as JsonObject & Envelope
	const { data, meta, ...others } = properties
	if (!data || Object.keys(others).length > 0) return { kind: 'send', type: `ApiPromise<${model}>`, models: [model], description }
	const list = data.type === 'array'
	const record = modelName(list ? (data.items as JsonObject) : data, `data of ${model}`)
	const limit = query.find(({ name }) => name === 'limit')
	if (list && limit && query.some(({ name }) => name === 'offset')) {
		const models = [record, ...(meta ? [modelName(meta, `meta of ${model}`)] : [])]
		const pages = 'One page by `await`; the records of all pages by `for await`.'
		return {
			kind: 'page',
			type: `PagePromise<${models.join(', ')}>`,
			models,
			description: pages,
			pageSize: Number(limit.schema.default),
		}
	}
	const type = `ApiPromise<${record}${list ? '[]' : ''}>`
	return { kind: 'record', type, models: [record], description: String(data.description ?? '') }
}

interface Envelope {
	properties?: Record<string, JsonObject>
	description?: string
}

function modelName(schema: JsonObject | undefined, place: string): string {
	if (typeof schema?.$ref === 'string') return schema.$ref.split('/').at(-1) ?? ''
	throw new Error(`${place} must be JSON of a named model: SDK signatures name their types`)
}

// ── A method ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function methodText(method: Method): string {
	const { operation, verb, path, ids, body, query, options, answer } = method
	const names = ids.map(({ name }) => name)
	const parameters = [
		...names.map((name) => `${name}: string`),
		...(body ? [`body${body.required ? '' : '?'}: ${body.model}`] : []),
		...(query ? [`query?: ${query}`] : []),
		`options?: ${options.join(' & ')}`,
	]
	const call = [
		...(ids.length > 0 ? [`path: { ${names.join(', ')} }`] : []),
		...(query ? ['query'] : []),
		...(body ? ['body'] : []),
		'options',
		...(answer.pageSize ? [`pageSize: ${answer.pageSize}`] : []),
	]
	const target = [...(answer.kind === 'page' ? [] : [verb]), path, ...(answer.file ? [answer.file] : [])]
	return `${methodDocs(method)}
	${operation.operationId.split('.').at(-1)}(${parameters.join(', ')}): ${answer.type} {
		return this.#transport.${answer.kind}(${target.map((text) => `'${text}'`).join(', ')}, { ${call.join(', ')} })
	}`
}

// ── The file ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function resourceClass({ path, methods, children }: Resource): string {
	const own = methods.length > 0
	const fields = children.map((next) => `\treadonly ${next.path.at(-1)}: ${className(next.path)}`)
	const made = children.map((next) => `\t\tthis.${next.path.at(-1)} = new ${className(next.path)}(transport)`)
	const head = [...(own ? ['\treadonly #transport: Transport'] : []), ...fields, '', '\tconstructor(transport: Transport) {']
	const setup = [...head, ...(own ? ['\t\tthis.#transport = transport'] : []), ...made, '\t}'].join('\n')
	const docs = path.length > 0 ? `/** \`remit.${path.join('.')}\` */` : '/** Every resource of the API. */'
	return `${methods.map(queryInterface).join('')}${docs}
export class ${className(path)} {
${[setup, ...methods.map(methodText)].join('\n\n')}
}`
}

function queryInterface({ operation: { operationId }, query }: Method): string {
	if (!query) return ''
	const type = `NonNullable<operations['${operationId}']['parameters']['query']>`
	return `/** The query of \`remit.${operationId}\`. */\nexport interface ${query} extends ${type} {}\n\n`
}

function imports(methods: Method[]): string {
	const promises = (name: string) => methods.flatMap(({ answer }) => (answer.type.startsWith(name) ? [name] : []))
	const contract = methods.flatMap(({ body, query, answer }) => [
		...(body ? [body.model] : []),
		...(query ? ['operations'] : []),
		...answer.models,
	])
	const from: Record<string, string[]> = {
		'../api-promise.ts': promises('ApiPromise'),
		'../options.ts': methods.flatMap(({ options }) => options),
		'../page.ts': promises('PagePromise'),
		'../transport.ts': ['Transport'],
		'./contract.ts': contract,
	}
	const used = Object.entries(from).filter(([, names]) => names.length > 0)
	return used.map(([file, names]) => `import type { ${[...new Set(names)].sort().join(', ')} } from '${file}'`).join('\n')
}

/** Every model that is more than a bare string or number: records, closed lists, and what may be written in several ways. */
function models(document: OpenApiDocument): string {
	const found = Object.entries(document.components.schemas).filter(
		([, schema]) => schema.type === 'object' || schema.enum || schema.anyOf,
	)
	return `export type {\n${found.map(([name]) => `\t${name},\n`).join('')}} from './contract.ts'`
}

/** Not the bare name: the resource `session` and the model Session would be one. */
const className = (path: string[]) => (path.length > 0 ? `${pascal(path)}Resource` : 'Resources')

const pascal = (names: string[]) => names.map((name) => name.replace(/^./, (first) => first.toUpperCase())).join('')
