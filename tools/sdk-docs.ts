// The prose of the SDK's methods, from the contract: description, parameters, errors, and an example where one says more.
import type { Json, Operation } from './openapi.ts'
import type { Method } from './sdk-methods.ts'

/** The TSDoc of a method, indented for a class. */
export function methodDocs(method: Method): string {
	const { operation, ids, body, query, queryInOptions, answer } = method
	const lines = [
		operation.description,
		'',
		...ids.map(({ name, description }) => `@param ${name} - ${description}`),
		...(body ? [`@param body - ${body.description.split(/(?<=\.)\s/)[0]}`] : []),
		...(query && queryInOptions.length === 0 ? ['@param query - Filters, order and page.'] : []),
		'@param options - Options of this call alone.',
		...(answer.description ? [`@returns ${answer.description}`] : []),
		`@throws ${throwable(operation)}`,
		...example(method),
	]
	return comment(lines)
}

function comment(lines: readonly string[]): string {
	const safe = lines.flatMap((line) => line.replaceAll('*/', '*\\/').split('\n'))
	return `\t/**\n${safe.map((line) => `\t * ${line}`.trimEnd()).join('\n')}\n\t */`
}

/** The name of a variable that holds a record. */
export const variable = (model: string) => model.replace(/^./, (first) => first.toLowerCase())

/** The documentation of `change`, which is no operation of the contract. */
export function changeDocs({ answer, ids: [id], operation }: Method, example: Json | undefined): string {
	const resource = operation.operationId.replace(/\.get$/, '')
	const record = variable(answer.models[0] ?? 'record')
	const lines = [
		'Change a record by what it is now: reads it, and sends what the function returns with the version that was read. Where somebody else has',
		'changed the record meanwhile, the function is asked again, ten times at most. The change itself is sent once: when its answer is lost, the',
		'call fails, and the change may have been stored.',
		'',
		...(id ? [`@param ${id.name} - ${id.description}`] : []),
		'@param change - Gets the record and returns the changes; undefined for none.',
		'@param options - Options of these calls alone.',
		'@returns As `update`; undefined when there was nothing to change.',
		'@throws As `get` and `update`.',
		'@example',
		'```ts',
		`await remit.${resource}.change(${id ? `${id.name}, ` : ''}(${record}) => (${record}.version === 1 ? ${literal(example ?? {})} : undefined))`,
		'```',
	]
	return comment(lines)
}

const errorClasses: Record<string, string> = {
	400: 'BadRequestError',
	401: 'AuthenticationError',
	403: 'PermissionDeniedError',
	404: 'NotFoundError',
	409: 'ConflictError',
	412: 'PreconditionFailedError',
	422: 'UnprocessableError',
	429: 'RateLimitError',
}

function throwable(operation: Operation): string {
	const statuses = Object.keys(operation.responses).filter((status) => Number(status) >= 400)
	const classes = Map.groupBy(statuses, (status) => errorClasses[status] ?? (Number(status) >= 500 ? 'ServerError' : 'ApiError'))
	return [...classes].map(([name, found]) => `\`${name}\` (${found.join(', ')})`).join(', ')
}

/** Only of lists and of calls with a body: other calls are clear from their signature. */
function example(method: Method): string[] {
	if (method.answer.kind !== 'page' && method.body?.example === undefined) return []
	return ['@example', '```ts', sdkCall(method), '```']
}

/** The call of a method with the example of its body; the ids in its path are variables. */
export function sdkCall({ operation, ids, body, answer }: Method): string {
	const args = [...ids.map(({ name }) => name), ...(body?.example === undefined ? [] : [literal(body.example)])]
	const call = `remit.${operation.operationId}(${args.join(', ')})`
	const record = variable(answer.models[0] ?? '')
	const shown = answer.withoutIds ? record : `${record}.id`
	return answer.kind === 'page' ? `for await (const ${record} of ${call}) console.log(${shown})` : `await ${call}`
}

/** A value as a TypeScript literal with single quotes. */
function literal(value: Json): string {
	if (typeof value === 'string') return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
	if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
	if (value === null || typeof value !== 'object') return String(value)
	const parts = Object.entries(value).map(([key, part]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : literal(key)}: ${literal(part)}`)
	return `{ ${parts.join(', ')} }`
}
