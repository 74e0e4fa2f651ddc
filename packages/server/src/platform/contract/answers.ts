// Checks an answer against the contract, and says what is wrong with it and where.
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { longestText } from '../base/errors.ts'
import { absolute, newAjv } from './ajv.ts'
import { type ContractOperation, contractOperations, type JsonSchema, schemas, version } from './document.ts'
import type { Operation } from './routes.ts'

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

export const contractOf = ({ id }: Operation) => contractOperations.get(id) as ContractOperation

interface Request {
	readonly method: string
	/** With its query. */
	readonly path: string
}

/** What the contract says of all errors. */
const anyError = {
	headers: { 'X-Request-Id': { required: true } },
	content: { 'application/problem+json': { schema: schemas.Problem as JsonSchema } },
}

export class AnswerChecker {
	readonly #prepare: <Part extends object>(part: Part) => Part
	readonly #ajv: ReturnType<typeof newAjv>
	readonly #compiled = new Map<object, ValidateFunction>()

	/** `prepare` makes of a schema what answers are checked against, such as one that is sealed. */
	constructor(prepare: <Part extends object>(part: Part) => Part = (part) => part) {
		this.#prepare = prepare
		// Compiling takes most of the time: a schema is compiled once, not where it is named, and its code is not optimized.
		this.#ajv = newAjv(prepare(schemas), { allErrors: true, inlineRefs: false, code: { optimize: false } })
	}

	/** A sentence for each mistake, which begins with its place. Without an operation there is none for the method at the path. */
	faultsOf(operation: Operation | undefined, answer: Answer, { method, path }: Request): string[] {
		const responses: ContractOperation['responses'] = operation
			? contractOf(operation).responses
			: { 404: anyError, 405: anyError }
		const documented = responses[answer.status]
		if (!documented) return [`status: ${answer.status} is not documented, only ${Object.keys(responses).join(', ')}`]
		const faults = headerFaults(documented.headers as Headed, answer)
		if (method === 'HEAD') return faults
		faults.push(...this.#bodyFaults(documented.content ?? {}, answer))
		return answer.status < 400 ? faults : [...faults, ...problemFaults(answer, path)]
	}

	/** The mistakes in a value; the schema is one of the contract, or a part of it that stays the same object. */
	schemaFaults(schema: object, value: unknown): string[] {
		const validate = this.#compiled.get(schema) ?? this.#ajv.compile(absolute(this.#prepare(schema)))
		this.#compiled.set(schema, validate)
		return validate(value) ? [] : (validate.errors ?? []).slice(0, 5).map(sentenceOf)
	}

	#bodyFaults(content: Record<string, { schema: object }>, { headers, bytes, body }: Answer): string[] {
		const [type, media] = Object.entries(content)[0] ?? []
		if (!type || !media) return bytes.length > 0 ? ['body: there must be none'] : []
		const [told = 'none'] = (headers.get('content-type') ?? '').split(';')
		if (told !== type) return [`header Content-Type: is ${told}, and must be ${type}`]
		if (type === 'application/pdf')
			return Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-' ? [] : ['body: is no PDF']
		if (body === undefined) return ['body: is no JSON']
		return this.schemaFaults(media.schema, body)
	}
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
	const [instance = ''] = path.split('?', 1)
	const expected = {
		status,
		// That there is no code is said once, by the schema.
		...(problem.code !== undefined && { type: `urn:remit:problem:${problem.code}` }),
		// An answer that is repeated has the id of the request that it answered first.
		...(headers.get('idempotent-replayed') !== 'true' && { requestId: headers.get('x-request-id') }),
		...(instance.length <= longestText && { instance }),
	}
	return Object.entries(expected).flatMap(([name, value]) =>
		problem[name] === value ? [] : [`body /${name}: is ${JSON.stringify(problem[name])}, and must be ${JSON.stringify(value)}`],
	)
}
