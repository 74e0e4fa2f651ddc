// Writes packages/sdk/api.md: every method of the SDK in a line, with its request, its scope and the errors that are its own.
import { codesOf } from './error-answers.ts'
import { type OpenApiDocument, operationsOf, responsesOf } from './openapi.ts'
import { variable } from './sdk-docs.ts'
import type { Method } from './sdk-methods.ts'
import { changed, type Resource, resourcesOf } from './sdk-writer.ts'
import { scopesOf } from './security.ts'

/** The codes that few operations have. What a fourth of them have follows from what they take, and is said once. */
function ownCodes(document: OpenApiDocument): ReadonlySet<string> {
	const all = operationsOf(document).map((operation) => Object.values(responsesOf(document, operation)).flatMap(codesOf))
	const counts = Map.groupBy(all.flat(), (code) => code)
	const own = [...counts].filter(([code, found]) => found.length * 4 < all.length && !code.startsWith('idempotency_'))
	return new Set(own.map(([code]) => code))
}

export function writeReference(document: OpenApiDocument, banner: string): string {
	const resources = resourcesOf(document).filter(({ methods }) => methods.length > 0)
	const own = ownCodes(document)
	return `<!-- ${banner} -->

# Methods of \`@remit/sdk\`

\`remit\` is a \`new Remit({ apiKey, baseUrl })\`. A method takes the ids of its path, its body and its query, and then \`options\` of the call. What it
returns is a promise; a \`PagePromise\` is one page by \`await\`, and the records of all pages by \`for await\`. Options in braces are those that not every
method has: all take \`signal\`, \`timeout\`, \`maxRetries\`, \`headers\` and \`requestId\`. Under a method stand the codes of errors
that are its own; wrong requests and keys, limits and lost answers are the same for all ([README](README.md#errors)).

${resources.map((resource) => section(document, resource, own)).join('\n\n')}
`
}

function section(document: OpenApiDocument, { path, methods }: Resource, own: ReadonlySet<string>): string {
	const name = path.join('.')
	const change = changed(methods)
	const changes = change ? [changeEntry(change)] : []
	return `## remit.${name}\n\n${[...methods.map((method) => entry(document, method, own)), ...changes].join('\n')}`
}

function changeEntry({ get, update, body }: NonNullable<ReturnType<typeof changed>>): string {
	const [record = ''] = get.answer.models
	const change = `change: (${variable(record)}: ${record}) => ${body.model} | undefined`
	const result = update.answer.type.replace(/^ApiPromise<(.*)>$/, 'Promise<$1 | undefined>')
	const text =
		'Reads the record, and sends what your function makes of it with the version that was read; asks again when it has changed meanwhile.'
	return `- **change**(${[...get.ids.map(({ name }) => name), change, 'options?'].join(', ')}) → \`${result}\`\\\n  ${text}`
}

/** The options that stand for a header, by their type. */
const names: Record<string, string> = {
	IdempotentRequestOptions: 'idempotencyKey',
	ConditionalRequestOptions: 'ifMatch',
	ReadRequestOptions: 'ifNoneMatch',
}

function entry(
	document: OpenApiDocument,
	{ operation, verb, path, ids, body, query, queryInOptions, options, answer }: Method,
	own: ReadonlySet<string>,
): string {
	const ownOptions = [...options.flatMap((type) => names[type] ?? []), ...queryInOptions]
	const parameters = [
		...ids.map(({ name }) => name),
		...(body ? [`body${body.required ? '' : '?'}: ${body.model}`] : []),
		...(query && queryInOptions.length === 0 ? ['query?'] : []),
		ownOptions.length > 0 ? `options?: { ${ownOptions.join(', ')} }` : 'options?',
	]
	const name = operation.operationId.split('.').at(-1)
	const scopes = scopesOf(operation)
		.map((scope) => ` · \`${scope}\``)
		.join('')
	const codes = Object.values(responsesOf(document, operation))
		.flatMap(codesOf)
		.filter((code) => own.has(code))
	return [
		`- **${name}**(${parameters.join(', ')}) → \`${answer.type}\`\\`,
		`  \`${verb} ${path}\`${scopes}. ${operation.description.replaceAll('\n', ' ')}`,
		...(codes.length > 0 ? [`  *${codes.join(', ')}*`] : []),
	].join('\n')
}
