// Turns the validators' violations into the contract's errors: the place of each violation, and what to do about it.
import { ApiError } from '../base/errors.ts'
import type { ProblemError } from '../generated/contract.ts'
import type { Violation } from './fast-validator.ts'
import { formats } from './formats.ts'

/**
 * The error for a request with violations. When an unknown field has an empty name, the full validator loses its place; `first`,
 * the violation that the fast validator found, has it.
 */
export function toValidationError(found: readonly Violation[], body: unknown, first: Violation | undefined): ApiError {
	const errors = collapse(found).map((violation) => place(violation.path ? violation : (first ?? violation), body))
	const [only] = errors
	const detail = errors.length === 1 && only ? `${named(only)} ${only.detail}.` : `The request has ${errors.length} mistakes.`
	return new ApiError('invalid_request', detail, { errors })
}

const named = ({ pointer, parameter }: ProblemError) => parameter ?? (pointer === '' ? 'The body' : (pointer ?? ''))

const keyword = (error: Violation) => error.errorCode?.replace('.openapi.validation', '') ?? ''

/**
 * The validator reports a value that fits no member of an anyOf once for each member. If a member has the value's type, only
 * its violations stay; otherwise one violation lists the types of all members.
 */
function collapse(errors: readonly Violation[]): Violation[] {
	let rest = [...errors]
	for (const { path } of errors.filter((error) => keyword(error) === 'anyOf')) {
		const members = rest.filter((error) => error.path === path && keyword(error) === 'type')
		const better = rest.some(
			(error) => error.path.startsWith(`${path}/`) || (error.path === path && !['type', 'anyOf'].includes(keyword(error))),
		)
		rest = rest.filter((error) => !(error.path === path && ['type', 'anyOf'].includes(keyword(error))))
		if (better) continue
		const types = [...new Set(members.map((error) => error.message.replace(/^must be /, '')))]
		rest.push({ path, message: `must be ${types.join(' or ')}`, errorCode: 'type' })
	}
	return rest
}

function place(error: Violation, body: unknown): ProblemError {
	const { path } = error
	const where = /^\/(\w+)/.exec(path)?.[1] ?? ''
	const code = codeOf(error, where)
	const detail = detailOf(error, code)
	const rest = path.slice(where.length + 1)
	return where === 'body' ? { pointer: pointerTo(body, rest), code, detail } : { parameter: rest.slice(1) || path, code, detail }
}

/**
 * The JSON Pointer to a place in the body. The validator escapes all names in a path but the last, so the rest of the path is
 * the last name as soon as the object reached so far has a field of that name.
 */
function pointerTo(value: unknown, path: string): string {
	if (path === '' || typeof value !== 'object' || value === null) return path
	const last = path.slice(1)
	if (Object.hasOwn(value, last)) return `/${last.replaceAll('~', '~0').replaceAll('/', '~1')}`
	const [segment = '', ...below] = last.split('/')
	if (below.length === 0) return path
	const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
	return `/${segment}${pointerTo((value as Record<string, unknown>)[name], `/${below.join('/')}`)}`
}

function codeOf(error: Violation, where: string): string {
	const rule = keyword(error)
	if (rule === 'additionalProperties') return 'unknown_field'
	if (rule === '' && where === 'query') return 'unknown_parameter'
	return rule || 'invalid'
}

/** The message for a date below the smallest that the contract takes (see DateMs in spec/scalars.tsp). */
const firstDateMs = 'must be >= 100000000000'

function detailOf(error: Violation, code: string): string {
	if (code === 'unknown_field') return 'is not a field of this request'
	if (code === 'unknown_parameter') return 'is not a query parameter of this operation'
	if (code === 'required') return 'is required'
	if (error.message === firstDateMs) return `${firstDateMs}: a number this small looks like seconds; give Unix milliseconds`
	const format = /^must match format "(.+)"$/.exec(error.message)?.[1]
	return format && formats[format] ? `must be ${formats[format].meaning}` : error.message
}
