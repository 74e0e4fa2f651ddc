// `@remit/sdk/testing`: a `fetch` for an application's own tests, which answers as the contract says, without a server.
import { unchanged } from './errors.ts'
import type { OperationName } from './failed.ts'
import { answers, type ExampleAnswer, errors, version } from './generated/answers.ts'
import type { ErrorCodeOf as CodeOf, ErrorCode, operations, Problem } from './generated/contract.ts'

type Responses<Name extends OperationName> = operations[Name]['responses']

type BodyOf<Response> = Response extends { content: { 'application/json': infer Body } }
	? Body
	: Response extends { content: object }
		? Uint8Array
		: never

/** The body of an operation's success: of a file, its bytes. */
export type SuccessBody<Name extends OperationName> = {
	[Status in keyof Responses<Name>]: Status extends 200 | 201 | 202 ? BodyOf<Responses<Name>[Status]> : never
}[keyof Responses<Name>]

type RequestBody<Name extends OperationName> = operations[Name] extends {
	requestBody: { content: { 'application/json': infer Body } }
}
	? Body
	: operations[Name] extends { requestBody?: { content: { 'application/json': infer Body } } }
		? Body | undefined
		: undefined

/** A call that arrived. */
export interface TestRequest<Name extends OperationName = OperationName> {
	readonly operation: Name
	/** The ids in its path. */
	readonly path: Readonly<Record<string, string>>
	readonly query: URLSearchParams
	readonly headers: Headers
	/** The parsed JSON; undefined without a body. */
	readonly body: RequestBody<Name>
}

/** The body of a success, or a whole `Response` such as that of `problem`. */
type Given<Name extends OperationName> = SuccessBody<Name> | Response

type OneAnswer<Name extends OperationName> =
	| Given<Name>
	| Promise<Given<Name>>
	| ((request: TestRequest<Name>) => Given<Name> | Promise<Given<Name>>)

/**
 * The body of a success, a whole `Response` such as that of `problem`, or what makes one of the call. Of an array each is for one call,
 * and the last one for all after it.
 */
export type TestAnswer<Name extends OperationName> = OneAnswer<Name> | readonly OneAnswer<Name>[]

/** Answers by operation. */
export type TestAnswers = { readonly [Name in OperationName]?: TestAnswer<Name> }

/** A `fetch` for the option of that name, and the calls that it got. */
export type TestFetch = typeof globalThis.fetch & { readonly requests: readonly AnyRequest[] }

/** Its `operation` tells the type of its body. */
type AnyRequest = { [Name in OperationName]: TestRequest<Name> }[OperationName]

/**
 * Makes a `fetch` that reaches nobody. An operation that is not among the answers gets the example of the contract, which is a
 * success. A request for no operation of the contract rejects, so that the test fails and says so. Nothing else of a request is checked:
 * what the server would reject gets the example, too.
 *
 * @example
 * ```ts
 * const fetch = testFetch({
 *   'companies.get': { data: { ...exampleBody('companies.get').data, name: 'Acme' } },
 *   'invoices.send': problem<'invoices.send'>('email_not_configured'),
 * })
 * const remit = new Remit({ apiKey: 'rmt_test', baseUrl: 'https://remit.test', fetch, maxRetries: 0 })
 * ```
 */
export function testFetch(given: TestAnswers = {}): TestFetch {
	for (const [operation, own] of Object.entries(given)) {
		exampleOf(operation)
		if (Array.isArray(own) && own.length === 0) throw new Error(`@remit/sdk/testing: ${operation} has an empty array of answers`)
	}
	const requests: AnyRequest[] = []
	const answer = async (asked: Asked): Promise<Response> => {
		const { request, example } = await read(new Request(...asked))
		const turn = requests.filter(({ operation }) => operation === request.operation).length
		requests.push(request as AnyRequest)
		const planned = [given[request.operation] as TestAnswer<OperationName> | undefined].flat()
		const own = planned[Math.min(turn, planned.length - 1)]
		const made = await Promise.race([typeof own === 'function' ? own(request) : own, brokenOff(signalOf(asked))])
		if (isResponse(made)) return made.clone()
		const body = made ?? called(example, request.path)
		return success(example, typeof own === 'function' ? body : pageOf(body, request.query), request.headers)
	}
	const fetch = async (...asked: Asked): Promise<Response> => {
		const response = await answer(asked).catch((error) => {
			throw signalOf(asked)?.aborted ? error : asItIs(error)
		})
		if (response.type === 'error') throw new TypeError('fetch failed', { cause: new Error('the test lost the connection') })
		return response
	}
	return Object.assign(fetch, { requests })
}

type Asked = Parameters<typeof globalThis.fetch>

/** Marks a mistake in a test: as a failure of the connection it would be made again, and be hidden by a ConnectionError. */
function asItIs(thrown: unknown): unknown {
	const error = Object.isExtensible(thrown) ? thrown : new Error(String(thrown), { cause: thrown })
	return Object.defineProperty(error, unchanged, { value: true })
}

/** A list without `meta` ends with an empty page: one answer for all its pages would never end. */
function pageOf(body: unknown, query: URLSearchParams): unknown {
	const { data, meta } = (body ?? {}) as { data?: unknown; meta?: unknown }
	return Array.isArray(data) && !meta ? { ...(body as object), data: data.slice(Number(query.get('offset'))) } : body
}

/** One of another realm, such as jsdom's, is no instance of the Response here. */
const isResponse = (made: unknown): made is Response => typeof (made as Partial<Response> | undefined)?.clone === 'function'

/** The signal of a caller. Node's copy of it in a new Request is silent once that is garbage. */
const signalOf = ([request, init]: Asked): AbortSignal | null | undefined =>
	init?.signal ?? (request instanceof Request ? request.signal : undefined)

/** Rejects when the caller does not want the answer any more. */
const brokenOff = (signal: AbortSignal | null | undefined) =>
	new Promise<never>((_, reject) => {
		if (signal?.aborted) reject(signal.reason)
		signal?.addEventListener('abort', () => reject(signal.reason))
	})

/** The example of an operation's success in the contract: a copy, to be changed. */
export const exampleBody = <Name extends OperationName>(operation: Name): SuccessBody<Name> =>
	bodyOf(exampleOf(operation)) as SuccessBody<Name>

const bodyOf = ({ file, body }: ExampleAnswer): unknown => (file ? new TextEncoder().encode('%PDF-1.7\n') : structuredClone(body))

function exampleOf(operation: string): ExampleAnswer {
	const found = Object.hasOwn(answers, operation) && answers[operation]
	if (!found) throw new Error(`@remit/sdk/testing: there is no operation ${operation}`)
	return found
}

/** The example with the id by which the call names the record. */
function called(example: ExampleAnswer, path: TestRequest['path']): unknown {
	const body = bodyOf(example)
	if (example.idFrom) Object.assign((body as { data: object }).data, { id: path[example.idFrom] })
	return body
}

/** The codes of all answers of an operation, and those of requests that reach none. */
type ProblemCode<Name extends OperationName> = Name extends OperationName ? Extract<CodeOf<Name> | CodeOfAny, ErrorCode> : never

type CodeOfAny = 'headers_too_large' | 'method_not_allowed' | 'request_timeout' | 'route_not_found'

/**
 * The answer by which the server rejects a call, by its code. Name the operation for the codes that it has. A `status` in the changes is
 * that of the answer, too. One of 429 or 503 has `Retry-After: 1`, unless `headers` has another.
 */
export function problem<Name extends OperationName = OperationName>(
	code: ProblemCode<Name>,
	{ headers, ...changes }: Partial<Omit<Problem, 'code' | 'type'>> & { readonly headers?: Record<string, string> } = {},
): Response {
	const [status, title] = (Object.hasOwn(errors, code) && errors[code]) || []
	if (!status) throw new Error(`@remit/sdk/testing: there is no error code ${code}`)
	const type = `urn:remit:problem:${code}`
	const body = { type, title, status, detail: `${title}.`, instance: '/', code, requestId, ...changes }
	const wait = [429, 503].includes(body.status) && { 'Retry-After': '1' }
	return Response.json(body, {
		status: body.status,
		headers: { ...always, 'Content-Type': 'application/problem+json', ...wait, ...headers },
	})
}

/** An answer that never arrives: the call fails with a `ConnectionError`, once it has made all its tries. */
export const connectionLost = (): Response => Response.error()

const requestId = 'req_test0000'
const always = { 'X-Request-Id': requestId, 'X-Contract-Version': version }

function success({ method, status, file, hasVersion }: ExampleAnswer, body: unknown, asked: Headers): Response {
	const { version = 1 } = ((body as { data?: object } | undefined)?.data ?? {}) as { version?: number }
	const tag = `"${version}"`
	const headers = { ...always, ...(hasVersion && { ETag: tag }) }
	const known = asked.get('If-None-Match')?.split(/, */) ?? []
	if (method === 'GET' && hasVersion && [tag, `W/${tag}`, '*'].some((own) => known.includes(own)))
		return new Response(null, { status: 304, headers })
	if (!file) return Response.json(body, { status, headers })
	const ofFile = { 'Content-Type': file, 'Content-Disposition': `inline; filename="example.${file.split('/')[1]}"` }
	return new Response(body as Uint8Array<ArrayBuffer>, { status, headers: { ...headers, ...ofFile } })
}

async function read(request: Request): Promise<{ request: TestRequest; example: ExampleAnswer }> {
	const { pathname, searchParams } = new URL(request.url)
	for (const [operation, example] of inOrder) {
		const path = example.method === request.method && idsIn(example.path, pathname)
		if (!path) continue
		const text = await request.text()
		const body = text === '' ? undefined : parsed(text, operation)
		return { request: { operation, path, query: searchParams, headers: request.headers, body }, example }
	}
	throw new Error(`@remit/sdk/testing: there is no operation ${request.method} ${pathname}`)
}

function parsed(text: string, operation: string): TestRequest['body'] {
	try {
		return JSON.parse(text)
	} catch (cause) {
		throw new Error(`@remit/sdk/testing: the body of ${operation} is no JSON`, { cause })
	}
}

/**
 * The longest paths first, since a part of one may read like a shorter one below the path of the base URL: `/webhooks/events/syncs`. Of the
 * same length, those with fewest parameters: `/api/invoices/preview` is no invoice.
 */
const inOrder = (Object.entries(answers) as [OperationName, ExampleAnswer][]).sort(
	([, { path: a }], [, { path: b }]) => b.split('/').length - a.split('/').length || a.split('{').length - b.split('{').length,
)

/** The parameters of a path that fits a template; undefined when it does not. */
function idsIn(template: string, path: string): Record<string, string> | undefined {
	const [parts, given] = [template.split('/'), path.split('/')]
	// Before it may stand the path of the base URL.
	given.splice(1, given.length - parts.length)
	if (parts.length !== given.length) return undefined
	const ids: Record<string, string> = {}
	for (const [at, part] of parts.entries()) {
		const value = given[at] as string
		if (part.startsWith('{')) ids[part.slice(1, -1)] = decodeURIComponent(value)
		else if (part !== value) return undefined
	}
	return ids
}
