// express-openapi-validator on the emitted document: it answers what the acceptor refuses, and in tests and development it
// judges every request and every answer. Here its errors become ours.
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import { ApiError } from '../errors.ts'
import type { ProblemError } from '../generated/contract.ts'
import { contractDocument } from './document.ts'
import { formats } from './formats.ts'

export function fullValidator(validateResponses: boolean): RequestHandler[] {
	return middleware({
		apiSpec: contractDocument() as never,
		validateApiSpec: validateResponses,
		validateRequests: { allErrors: true, allowUnknownQueryParameters: false, coerceTypes: false },
		validateResponses: validateResponses && { coerceTypes: false, allErrors: true },
		validateSecurity: false,
		fileUploader: false,
		ajvFormats: { mode: 'full' },
		formats: Object.fromEntries(Object.entries(formats).map(([name, { type, validate }]) => [name, { type, validate }])) as never,
	})
}

interface ValidatorError {
	readonly status: number
	readonly errors: readonly { path: string; message: string; errorCode?: string }[]
}

/** Turns the validator's refusals into ours; an invalid answer stays an internal error. */
export const translateErrors: ErrorRequestHandler = (error: Partial<ValidatorError> & Error, _req, _res, next) => {
	if (error instanceof ApiError || !Array.isArray(error.errors) || error.status !== 400) return next(error)
	const errors = collapse(error.errors as ValidatorError['errors']).map(place)
	const [first] = errors
	const detail = errors.length === 1 && first ? `${named(first)} ${first.detail}.` : `The request has ${errors.length} mistakes.`
	next(new ApiError('invalid_request', detail, { errors }))
}

const named = ({ pointer, parameter }: ProblemError) => parameter ?? (pointer === '' ? 'The body' : (pointer ?? ''))

type RawError = ValidatorError['errors'][number]

const keyword = (error: RawError) => error.errorCode?.replace('.openapi.validation', '') ?? ''

/**
 * A value that fits no member of an anyOf is reported once for each member. What the member of the value's own type says
 * is the answer; when there is none, the types are listed.
 */
function collapse(errors: readonly RawError[]): RawError[] {
	let rest = [...errors]
	for (const { path } of errors.filter((error) => keyword(error) === 'anyOf')) {
		const members = rest.filter((error) => error.path === path && keyword(error) === 'type')
		const better = rest.some(
			(error) => (error.path === path || error.path.startsWith(`${path}/`)) && !['type', 'anyOf'].includes(keyword(error)),
		)
		rest = rest.filter((error) => !(error.path === path && ['type', 'anyOf'].includes(keyword(error))))
		if (better) continue
		const types = [...new Set(members.map((error) => error.message.replace(/^must be /, '')))]
		rest.push({ path, message: `must be ${types.join(' or ')}`, errorCode: 'type' })
	}
	return rest
}

function place(error: RawError): ProblemError {
	const [, where = '', name = '', rest = ''] = /^\/(body|query|params|headers)(?:\/([^/]*))?(.*)$/.exec(error.path) ?? []
	const code = codeOf(error, where)
	const detail = detailOf(error, code)
	if (where === 'body') return { pointer: name || error.path !== '/body' ? `/${name}${rest}` : '', code, detail }
	return { parameter: name || error.path, code, detail }
}

function codeOf(error: RawError, where: string): string {
	const rule = keyword(error)
	if (rule === 'additionalProperties') return 'unknown_field'
	if (rule === '' && where === 'query') return 'unknown_parameter'
	return rule || 'invalid'
}

/** Integers from here on are dates in milliseconds (see DateMs in spec/common.tsp). */
const firstDateMs = 'must be >= 100000000000'

function detailOf(error: RawError, code: string): string {
	if (code === 'unknown_field') return 'is not a field of this request'
	if (code === 'unknown_parameter') return 'is not a query parameter of this operation'
	if (code === 'required') return 'is required'
	if (error.message === firstDateMs) return `${firstDateMs}: a number this small looks like seconds; give Unix milliseconds`
	const format = /^must match format "(.+)"$/.exec(error.message)?.[1]
	return format && formats[format] ? `must be ${formats[format].meaning}` : error.message
}
