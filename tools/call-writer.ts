// Writes packages/server/src/generated/calls.ts: how each operation is called with the SDK and with curl, for the API reference.
import { isSessionOnly, type OpenApiDocument, type Operation } from './openapi.ts'
import { sdkCall } from './sdk-docs.ts'
import { describeMethod, type Method } from './sdk-methods.ts'

export function writeCalls(document: OpenApiDocument, banner: string): string {
	const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
		Object.entries(operations).map(([verb, operation]) => describeMethod(document, verb.toUpperCase(), path, operation)),
	)
	const calls = methods.map((method) => [
		method.operation.operationId,
		{
			sdk: sdkCall(methodOf(method.operation, methods)),
			...(!isForPages(method) && { curl: curlCall(method) }),
		},
	])
	return `// ${banner}

export interface Call {
	/** Its variables are \`remit\` and the ids of the path. */
	readonly sdk: string
	/** Its variables are \`REMIT_BASE_URL\`, \`REMIT_API_KEY\` and the ids of the path. Absent where only a page of the server may call. */
	readonly curl?: string
}

/** The calls of each operation, with the examples of the contract. */
export const calls: Readonly<Record<string, Call>> = ${JSON.stringify(Object.fromEntries(calls), null, '\t')}
`
}

/** Whether only a page of the server may call it: it is about a session, or begins one. */
const isForPages = ({ operation, verb }: Method) =>
	isSessionOnly(operation) || (operation.security?.length === 0 && verb !== 'GET')

/** The SDK has no second method for an operation that repeats another one. */
const methodOf = (operation: Operation, methods: readonly Method[]): Method => {
	const id = operation['x-alias-of'] ?? operation.operationId
	return methods.find((method) => method.operation.operationId === id) as Method
}

function curlCall({ operation, verb, path, body, answer }: Method): string {
	const isPublic = operation.security?.length === 0
	const parts = [
		`curl${verb === 'GET' ? '' : ` -X ${verb}`} "$REMIT_BASE_URL${path.replace(/\{(\w+)\}/g, '$$$1')}"`,
		...(isPublic ? [] : ['-H "Authorization: Bearer $REMIT_API_KEY"']),
		...(body?.example === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.example))}`]),
		...(answer.file
			? [`--output ${operation.operationId.split('.')[0]?.replace(/s$/, '')}.${answer.file.split('/').at(-1)}`]
			: []),
	]
	return parts.join(' \\\n  ')
}

/** A word of the shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
