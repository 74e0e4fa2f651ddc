// Turns the validators' violations into the contract's errors: the place of each violation, and what to do about it.

import type { ProblemError } from '../../generated/contract.ts'
import { ApiError, longestPlace, mostErrors } from '../base/errors.ts'
import type { Violation } from './fast-validator.ts'
import { formats, refusedIn } from './formats.ts'

interface Validated {
	readonly body: unknown
	readonly query?: Readonly<Record<string, unknown>>
}

/**
 * The error for a request with violations. When an unknown field has an empty name, the library loses its place; `first`, the
 * violation that the fast validator found, has it.
 */
export function toValidationError(found: readonly Violation[], request: Validated, first: Violation): ApiError {
	const violations = collapse(found)
	const errors = violations.slice(0, mostErrors + 1).map((violation) => place(violation.path ? violation : first, request))
	return new ApiError('invalid_request', summaryOf(errors), { errors })
}

/** Names the first error: a program that logs only this text must not hide which field was wrong. */
function summaryOf(errors: readonly ProblemError[]): string {
	const [first] = errors
	if (!first) return 'The request does not match the contract.'
	const told = `${named(first)} ${first.detail}.`
	return errors.length === 1 ? told : `The request has ${count(errors)} mistakes, the first: ${told}`
}

const count = ({ length }: readonly ProblemError[]) => (length > mostErrors ? `more than ${mostErrors}` : length)

const named = ({ pointer, parameter }: ProblemError) => parameter ?? (pointer === '' ? 'The body' : (pointer ?? ''))

const keyword = (error: Violation) => error.errorCode?.replace('.openapi.validation', '') ?? ''

/**
 * The violations to name. What is in an array or object that has too much in it is not looked into, what is empty is not called blank, and
 * what is no integer is not said to miss its format, too. A value that fits no member of an anyOf is reported once for each member: if a member has the value's type,
 * only its violations stay; otherwise one violation lists the types of all members.
 */
function collapse(all: readonly Violation[]): Violation[] {
	const overfull = new Set(all.filter((error) => /^max(Items|Properties)$/.test(keyword(error))).map(({ path }) => path))
	const overfullAbove = finderOf(overfull)
	const empty = new Set(all.filter((error) => keyword(error) === 'minLength').map(({ path }) => path))
	const fractions = new Set(all.filter(({ message }) => message === noInteger).map(({ path }) => path))
	const isRepeated = ({ path, message }: Violation) =>
		(message === notBlank && empty.has(path)) || (integerFormat.test(message) && fractions.has(path))
	const errors = all.filter((error) => overfullAbove(error.path).length === 0 && !isRepeated(error))
	const types = new Map<string, Set<string>>()
	for (const { path } of errors.filter((error) => keyword(error) === 'anyOf')) {
		// A path that is reported twice has its last place.
		types.delete(path)
		types.set(path, new Set())
	}
	const anyOfAbove = finderOf(new Set(types.keys()))
	const rest: Violation[] = []
	const better = new Set<string>()
	for (const error of errors) {
		const { path, message } = error
		const ofMember = types.get(path)
		for (const above of anyOfAbove(path)) better.add(above)
		if (ofMember && keyword(error) === 'type') ofMember.add(message.replace(/^must be /, ''))
		else if (!ofMember || keyword(error) !== 'anyOf') {
			if (ofMember) better.add(path)
			rest.push(error)
		}
	}
	for (const [path, names] of types) {
		if (!better.has(path)) rest.push({ path, message: `must be ${[...names].join(' or ')}`, errorCode: 'type' })
	}
	return rest
}

/** A function that lists those of `paths` that a path is below. */
function finderOf(paths: ReadonlySet<string>): (path: string) => string[] {
	// A name that a caller made up may have any number of slashes.
	const longest = Math.max(0, ...[...paths].map(({ length }) => length))
	return (path) => {
		const found: string[] = []
		for (let end = path.indexOf('/', 1); end > 0 && end <= longest; end = path.indexOf('/', end + 1)) {
			if (paths.has(path.slice(0, end))) found.push(path.slice(0, end))
		}
		return found
	}
}

function place(error: Violation, { body, query = {} }: Validated): ProblemError {
	const { path } = error
	const where = /^\/(\w+)/.exec(path)?.[1] ?? ''
	const code = codeOf(error, where)
	const rest = path.slice(where.length + 1)
	const at = find({ body, query }[where], rest)
	const detail = (where === 'query' && detailOfQuery(error, query[rest.slice(1)])) || detailOf(error, code, at.value)
	if (where === 'body') return { pointer: at.pointer, code, detail }
	// An item of a list is named by its parameter. The name of an unknown parameter is the caller's.
	const name = code === 'unknown_parameter' ? rest : rest.replace(/\/\d+$/, '')
	return { parameter: name.slice(1) || path, code, detail }
}

/** A place, and what is there, if anything. */
interface Found {
	readonly pointer: string
	readonly value?: unknown
}

/**
 * The place of a path in the body, as a JSON Pointer. The validator escapes all names in a path but the last, so the rest of the path is
 * the last name as soon as the object reached so far has a field of that name.
 */
function find(value: unknown, path: string): Found {
	if (path === '') return { pointer: path, value }
	if (typeof value !== 'object' || value === null) return { pointer: path }
	const last = path.slice(1)
	const fields = value as Record<string, unknown>
	// No more of a name than is answered: escaping half a megabyte takes 30 ms.
	if (Object.hasOwn(value, last)) {
		const name = last.slice(0, longestPlace + 1)
		return { pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value: fields[last] }
	}
	const end = path.indexOf('/', 1)
	if (end < 0) return { pointer: path }
	const segment = path.slice(1, end)
	const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
	const below = find(fields[name], path.slice(end))
	return { ...below, pointer: `/${segment}${below.pointer}` }
}

function codeOf(error: Violation, where: string): string {
	const rule = keyword(error)
	if (where === 'query' && (rule === 'additionalProperties' || rule === '')) return 'unknown_parameter'
	if (rule === 'additionalProperties') return 'unknown_field'
	return rule || 'invalid'
}

/** The message for a date below the smallest that the contract takes (see DateMs in spec/shared/scalars.tsp). */
const firstDateMs = 'must be >= 100000000000'

/** The message for text of blanks (`Name` in spec/shared/scalars.tsp). */
const notBlank = 'must match pattern "\\S"'

/** The messages for a number that is no integer, of its type and of its format. */
const noInteger = 'must be integer'
const integerFormat = /^must match format "int\d+"$/

/** The message for a list in the query that is empty, and what a caller can make of it. */
const notAList = 'must be array'
const oneOrMore = 'must be one value, or several with commas between'

/** Ajv's words for a size, such as `must NOT have fewer than 1 characters`. */
const size = /^must NOT have (fewer|more) than (\d+) (characters|items|properties)$/

const things: Readonly<Record<string, readonly [one: string, many: string]>> = {
	characters: ['character', 'characters'],
	items: ['item', 'items'],
	properties: ['field', 'fields'],
}

function sizeOf(way: string, count: string, what: string): string {
	if (way === 'fewer' && count === '1') return 'must not be empty'
	return `must have at ${way === 'fewer' ? 'least' : 'most'} ${count} ${things[what]?.[count === '1' ? 0 : 1]}`
}

/** What is particular to a parameter with this value. One that comes several times is a list. */
function detailOfQuery(error: Violation, value: unknown): string | undefined {
	if (error.message === notAList) return oneOrMore
	return keyword(error) === 'type' && Array.isArray(value) ? 'must be given once' : undefined
}

function detailOf(error: Violation, code: string, value: unknown): string {
	if (code === 'unknown_field') return 'is not a field of this request'
	if (code === 'unknown_parameter') return 'is not a query parameter of this operation'
	if (code === 'required') return 'is required'
	if (error.message === firstDateMs) return `${firstDateMs}: a number this small looks like seconds; give Unix milliseconds`
	if (error.message === notBlank) return 'must not be blank'
	const [, way, count, what] = size.exec(error.message) ?? []
	if (way && count && what) return sizeOf(way, count, what)
	const format = formats[/^must match format "(.+)"$/.exec(error.message)?.[1] ?? '']
	if (!format) return error.message
	const refused = typeof value === 'string' && refusedIn(value, format)
	return refused ? `has ${refused}` : `must be ${format.meaning}`
}
