// What a method of the SDK is, from its operation in the contract.

import {
	type Json,
	type JsonObject,
	type OpenApiDocument,
	type Operation,
	type Parameter,
	resolve,
	responsesOf,
} from './openapi.ts'

export interface Method {
	operation: Operation
	verb: string
	path: string
	ids: Parameter[]
	body: { model: string; required: boolean; description: string; example: Json | undefined } | undefined
	/** Name of the interface of the query. */
	query: string | undefined
	/** Whether the query has a list, for which a single value may stand. */
	hasList: boolean
	/** The names of a query that stands among the options: that of a read of one record. */
	queryInOptions: string[]
	/** The type of an answer for a query of a narrower type. */
	narrowed: { query: string; type: string }[]
	options: string[]
	/** Whether it reads a record only when it has changed. */
	isConditionalRead: boolean
	/** Why the SDK may send it again; not said of reads. */
	repeat: string | undefined
	answer: Answer
}

interface Answer {
	/** The transport's function: the whole body, its `data`, a run that goes on after it, a page of a list, or a file. */
	kind: 'send' | 'record' | 'run' | 'page' | 'bytes'
	type: string
	models: string[]
	description: string
	/** The default limit of a list. */
	pageSize?: number
	/** Whether the records of a list have no \`id\`. */
	withoutIds?: boolean
	/** The media type of a file. */
	file?: string
}

export function describeMethod(document: OpenApiDocument, verb: string, path: string, operation: Operation): Method {
	const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter))
	const inside = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place)
	const ids = inside('path')
	const query = inside('query').length > 0 ? `${pascal(operation.operationId.split('.'))}Query` : undefined
	const options = optionTypes(operation, inside('header'))
	const found = answer(document, operation, inside('query'))
	const queryInOptions = found.kind === 'record' ? inside('query').map(({ name }) => name) : []
	return {
		operation,
		verb,
		path,
		ids,
		body: body(document, operation),
		query,
		hasList: inside('query').some(({ schema }) => schema.type === 'array'),
		queryInOptions,
		narrowed: query ? narrowed(operation, query, found) : [],
		isConditionalRead: found.kind === 'record' && options.includes('ReadRequestOptions'),
		repeat: repeats[options.find((name) => name in repeats) ?? ''],
		options: query && queryInOptions.length > 0 ? [...options, query] : options,
		answer: found,
	}
}

function body(document: OpenApiDocument, operation: Operation): Method['body'] {
	if (!operation.requestBody) return undefined
	const model = modelName(operation.requestBody.content['application/json']?.schema, `the body of ${operation.operationId}`)
	const { description = '', examples } = document.components.schemas[model] as { description?: string; examples?: Json[] }
	return { model, required: operation.requestBody.required ?? false, description, example: examples?.[0] }
}

function narrowed(operation: Operation, query: string, { type, models: [record = ''] }: Answer): Method['narrowed'] {
	const { absent, ...by } = operation['x-answer-by'] ?? {}
	const typed = (model: unknown) => type.replace(record, String(model))
	return Object.entries(by).flatMap(([parameter, values]) => [
		...Object.entries(values as Record<string, string>).map(([value, model]) => ({
			query: `query: ${query} & { ${parameter}: '${value}' }`,
			type: typed(model),
		})),
		{ query: `query?: ${query} & { ${parameter}?: never }`, type: typed(absent) },
	])
}

/** The options that stand for a header. */
const headerOptions: Record<string, string[]> = {
	'Idempotency-Key': ['IdempotentRequestOptions'],
	'If-Match': ['ConditionalRequestOptions'],
	'If-None-Match': ['ReadRequestOptions'],
}

const repeats: Record<string, string> = { IdempotentRequestOptions: 'key', ConditionalRequestOptions: 'same' }

function optionTypes(operation: Operation, headers: Parameter[]): string[] {
	const types = headers.flatMap(({ name }) => {
		const types = headerOptions[name]
		if (!types) throw new Error(`${operation.operationId}: the SDK has no option for the header ${name}`)
		return types
	})
	return types.length > 0 ? types : ['RequestOptions']
}

const follows = 'The run, as it is then. `.progress()` follows it, and `.done()` waits for its end.'

function answer(document: OpenApiDocument, operation: Operation, query: Parameter[]): Answer {
	const [, success] = Object.entries(responsesOf(document, operation)).find(([status]) => status.startsWith('2')) ?? []
	const content = success?.content
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
			withoutIds: hasNoId(document.components.schemas[record]),
		}
	}
	if (record === 'SyncRun' && !list) return { kind: 'run', type: 'SyncRunPromise', models: [], description: follows }
	const type = `ApiPromise<${record}${list ? '[]' : ''}>`
	return { kind: 'record', type, models: [record], description: String(data.description ?? '') }
}

/** A union has none of its own: its members do. */
const hasNoId = ({ properties }: JsonObject = {}): boolean => properties !== undefined && !('id' in (properties as JsonObject))

interface Envelope {
	properties?: Record<string, JsonObject>
	description?: string
}

function modelName(schema: JsonObject | undefined, place: string): string {
	if (typeof schema?.$ref === 'string') return schema.$ref.split('/').at(-1) ?? ''
	throw new Error(`${place} must be JSON of a named model: SDK signatures name their types`)
}

// ── A method ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export const pascal = (names: string[]) => names.map((name) => name.replace(/^./, (first) => first.toUpperCase())).join('')
