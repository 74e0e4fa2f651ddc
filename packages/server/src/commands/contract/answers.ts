// Checks an answer against the contract, and says what is wrong with it and where.
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { absolute, newAjv } from '../../contract/ajv.ts'
import { type ContractOperation, contractOperations, schemas, version } from '../../contract/document.ts'
import type { Operation } from '../../contract/routes.ts'

export interface Answer {
	readonly status: number
	readonly headers: Headers
	readonly bytes: Uint8Array
	/** Undefined when it is not JSON. */
	readonly body: unknown
}

/** The `code` of an error; undefined for other answers. */
export const codeOf = ({ status, body }: Answer): string | undefined =>
	status >= 400 ? (body as { code?: string } | undefined)?.code : undefined

const ajv = newAjv(schemas, { allErrors: true, inlineRefs: false, code: { optimize: false } })
const compiled = new Map<object, ValidateFunction>()

function validator(schema: object): ValidateFunction {
	const found = compiled.get(schema) ?? ajv.compile(absolute(schema))
	compiled.set(schema, found)
	return found
}

export const contractOf = ({ id }: Operation) => contractOperations.get(id) as ContractOperation

/** A sentence for each mistake, which begins with its place. */
export function faultsOf(operation: Operation, answer: Answer, path: string): string[] {
	const { responses } = contractOf(operation)
	const documented = responses[answer.status]
	if (!documented) return [`status: ${answer.status} is not documented, only ${Object.keys(responses).join(', ')}`]
	return [
		...headerFaults(documented.headers as Headed, answer),
		...bodyFaults(documented.content ?? {}, answer),
		...(answer.status >= 400 ? problemFaults(answer, path) : []),
	]
}

type Headed = Record<string, { readonly required?: boolean; readonly schema?: { readonly type?: string } }>

function headerFaults(documented: Headed, { headers }: Answer): string[] {
	const faults = Object.entries(documented).flatMap(([name, { required, schema }]) => {
		const value = headers.get(name)
		if (value === null) return required ? [`header ${name}: is missing`] : []
		return schema?.type === 'integer' && !/^-?\d+$/.test(value) ? [`header ${name}: is "${value}", and must be an integer`] : []
	})
	const told = headers.get('x-contract-version')
	if (told !== null && told !== version) faults.push(`header X-Contract-Version: is ${told}, and must be ${version}`)
	const etag = headers.get('etag')
	if (etag !== null && !/^(W\/)?"[^"]*"$/.test(etag)) faults.push(`header ETag: is ${etag}, and must be quoted`)
	return faults
}

function bodyFaults(content: Record<string, { schema: object }>, { headers, bytes, body }: Answer): string[] {
	const [type, media] = Object.entries(content)[0] ?? []
	if (!type || !media) return bytes.length > 0 ? ['body: there must be none'] : []
	const [told = 'none'] = (headers.get('content-type') ?? '').split(';')
	if (told !== type) return [`header Content-Type: is ${told}, and must be ${type}`]
	if (!/[/+]json$/.test(type)) return bytes.length > 0 ? [] : ['body: is empty']
	if (body === undefined) return ['body: is no JSON']
	const validate = validator(media.schema)
	return validate(body) ? [] : (validate.errors ?? []).slice(0, 5).map(sentenceOf)
}

function sentenceOf({ instancePath, message, params }: ErrorObject): string {
	const more =
		'allowedValues' in params
			? `: ${params.allowedValues}`
			: 'additionalProperty' in params
				? `: ${params.additionalProperty}`
				: ''
	return `body ${instancePath || '/'}: ${message}${more}`
}

function problemFaults({ status, headers, body }: Answer, path: string): string[] {
	const problem = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
	const expected = {
		status,
		type: `urn:remit:problem:${problem.code}`,
		requestId: headers.get('x-request-id'),
		instance: path.split('?', 1)[0],
	}
	return Object.entries(expected).flatMap(([name, value]) =>
		problem[name] === value ? [] : [`body /${name}: is ${JSON.stringify(problem[name])}, and must be ${JSON.stringify(value)}`],
	)
}
