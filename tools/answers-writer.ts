// Writes packages/sdk/src/generated/answers.ts: the success of each operation with the contract's example, for `@remit/sdk/testing`.
import { errorTable } from './error-table.ts'
import { exampleOf, idAt } from './examples.ts'
import { type Json, type JsonObject, type OpenApiDocument, type Operation, responsesOf } from './openapi.ts'

export function writeAnswers(document: OpenApiDocument, banner: string): string {
	const answers = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods)
			// The SDK has no method for an operation that repeats another one.
			.filter(([, operation]) => !operation['x-alias-of'])
			.map(([verb, operation]) => [
				operation.operationId,
				{ method: verb.toUpperCase(), path, ...success(document, path, operation) },
			]),
	)
	return `// ${banner}

export interface ExampleAnswer {
	readonly method: string
	/** With its parameters in braces. */
	readonly path: string
	readonly status: number
	/** The media type of an answer that is not JSON. */
	readonly file?: string
	readonly hasVersion?: true
	/** The parameter of the path that is the id of its record. */
	readonly idFrom?: string
	/** Absent for a file. */
	readonly body?: unknown
}

export const version = '${document.info.version}'

/** The success of each operation, by its name. */
export const answers: Readonly<Record<string, ExampleAnswer>> = ${JSON.stringify(Object.fromEntries(answers), null, '\t')}

/** The status and the title of each error code. */
export const errors: Readonly<Record<string, readonly [status: number, title: string]>> = ${JSON.stringify(errorTable(document), null, '\t')}
`
}

function success(document: OpenApiDocument, path: string, operation: Operation) {
	const [status, { content = {}, headers = {} }] = Object.entries(responsesOf(document, operation)).find(([status]) =>
		status.startsWith('2'),
	) as [string, { content?: object; headers?: object }]
	const [[type, { schema }]] = Object.entries(content) as [[string, { schema: Parameters<typeof exampleOf>[1] }]]
	const version = 'ETag' in headers && { hasVersion: true }
	if (type !== 'application/json') return { status: Number(status), ...version, file: type }
	const body = exampleOf(document, schema)
	if (body === undefined) throw new Error(`${operation.operationId}: its answer has no example`)
	const idFrom = parameterOf(document, path, body)
	return { status: Number(status), ...version, ...(idFrom && { idFrom }), body: onlyPage(ofItsKind(document, path, body)) }
}

/** The parameter of a path that is the id of the answer's record. */
function parameterOf(document: OpenApiDocument, path: string, body: Json): string | undefined {
	const { id } = (body as { data?: { id?: string } }).data ?? {}
	const found = [...path.matchAll(/\{(\w+)\}/g)].find(
		(part) => id && idAt(document, path.slice(0, part.index + part[0].length)) === id,
	)
	return found?.[1]
}

/** Answers to what creates share an example, and each has an id of its own kind. */
function ofItsKind(document: OpenApiDocument, path: string, body: Json): Json {
	const id = 'id' in (body as JsonObject) && idAt(document, `${path}/{id}`)
	return id ? { ...(body as JsonObject), id } : body
}

/** An example of a list that is all of it: with a page after it, `for await` would ask for the same page for ever. */
function onlyPage(body: Json): Json {
	const { data, meta } = body as { data?: Json[]; meta?: JsonObject }
	if (!data || !meta) return body
	return {
		data,
		meta: { ...meta, ...(typeof meta.total === 'number' && { total: data.length }), hasMore: false, nextCursor: null },
	}
}
