// The filters and orders of Xero's lists. https://developer.xero.com/documentation/api/accounting/requests-and-responses
import type { Json } from './records.ts'
import { Refusal } from './reply.ts'

type Test = (record: Json) => boolean

const term =
	/^(?<path>[\w.]+?)(?:\.(?<method>StartsWith|EndsWith|Contains)\((?<argument>"[^"]*")\)|\s*(?<operator>==|!=|>=|<=|>|<|=)\s*(?<literal>.+))$/

/** `Status=="AUTHORISED" AND UpdatedDateUTC>=DateTime(2026,01,31)`, with OR between groups of ANDs and without parentheses. */
export function parseWhere(where: string): Test {
	const groups = where.split(/\s+OR\s+|\|\|/i).map((group) => group.split(/\s+AND\s+|&&/i).map((text) => parseTerm(text.trim())))
	return (record) => groups.some((terms) => terms.every((test) => test(record)))
}

function parseTerm(text: string): Test {
	const { path = '', method, argument = '', operator = '', literal = '' } = term.exec(text)?.groups ?? {}
	if (path === '') throw badQuery(`No property or field '${text}' exists`)
	if (method) return (record) => checkText(String(valueAt(record, path) ?? ''), method, readLiteral(argument) as string)
	const other = readLiteral(literal)
	return (record) => holds(valueAt(record, path), operator, other)
}

function checkText(text: string, method: string, part: string): boolean {
	if (method === 'StartsWith') return text.startsWith(part)
	return method === 'EndsWith' ? text.endsWith(part) : text.includes(part)
}

function holds(own: unknown, operator: string, other: unknown): boolean {
	const order = compareValues(own, other)
	if (operator === '==' || operator === '=') return order === 0
	if (operator === '!=') return order !== 0
	if (own === undefined || own === null) return false
	if (operator === '>') return order > 0
	if (operator === '>=') return order >= 0
	return operator === '<' ? order < 0 : order <= 0
}

function readLiteral(text: string): unknown {
	const [, date] = /^DateTime\(([\d,\s]+)\)$/i.exec(text) ?? []
	if (date) {
		const [year = 0, month = 1, day = 1, ...time] = date.split(',').map(Number)
		return Date.UTC(year, month - 1, day, ...time)
	}
	const [, quoted] = /^(?:guid\()?"([^"]*)"\)?$/i.exec(text) ?? []
	if (quoted !== undefined) return quoted
	if (text === 'null') return null
	if (text === 'true' || text === 'false') return text === 'true'
	if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
	throw badQuery(`'${text}' is not understood`)
}

/** A date as a number; what is absent is null. */
function valueAt(record: Json, path: string): unknown {
	const value = path.split('.').reduce<unknown>((part, name) => (part as Json | undefined)?.[name], record)
	const [, ms] = /^\/Date\((-?\d+)/.exec(String(value)) ?? []
	return ms === undefined ? (value ?? null) : Number(ms)
}

function compareValues(a: unknown, b: unknown): number {
	if (typeof a === 'number' && typeof b === 'number') return a - b
	const [one, other] = [String(a ?? ''), String(b ?? '')]
	return one < other ? -1 : Number(one > other)
}

/** `UpdatedDateUTC DESC` */
export function parseOrder(order: string): (a: Json, b: Json) => number {
	const [, path = '', direction = 'ASC'] = /^([\w.]+)(?:\s+(ASC|DESC))?$/i.exec(order.trim()) ?? []
	if (path === '') throw badQuery(`The order '${order}' is not understood`)
	const sign = direction.toUpperCase() === 'DESC' ? -1 : 1
	return (a, b) => sign * compareValues(valueAt(a, path), valueAt(b, path))
}

const badQuery = (Message: string): Refusal =>
	new Refusal({ status: 400, json: { ErrorNumber: 16, Type: 'QueryParseException', Message } })
