// The requests of a list: one for each filter with each of its values, each order and search, and deep in the list. They come from the
// contract, so that a new filter is measured, too.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { someCompany, words } from './columns.ts'

interface Schema {
	readonly $ref?: string
	readonly enum?: readonly string[]
	readonly type?: string
	readonly items?: Schema
	readonly format?: string
}

interface Parameter {
	readonly $ref?: string
	readonly name: string
	readonly in: string
	readonly schema: Schema
}

interface Operation {
	readonly operationId: string
	readonly parameters?: readonly Parameter[]
}

const file = join(import.meta.dirname, '../../server/src/generated/openapi.json')
const document = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, { get?: Operation }> }

/** What a reference stands for. */
function resolved<T extends { readonly $ref?: string }>(one: T): T {
	if (one.$ref === undefined) return one
	const found = one.$ref
		.slice(2)
		.split('/')
		.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document)
	return resolved(found as T)
}

export interface List {
	readonly id: string
	readonly path: string
	readonly parameters: readonly Parameter[]
}

/** Lists of the records that lists/columns.ts copies. */
const grown = [
	'companies',
	'contacts',
	'deals',
	'invoices',
	'payments',
	'timeEntries',
	'webhooks.events',
	'webhooks.deliveries',
	'search',
]

export const lists: readonly List[] = grown.map((name) => {
	for (const [path, { get }] of Object.entries(document.paths)) {
		if (get?.operationId !== `${name}.list`) continue
		const parameters = (get.parameters ?? []).map(resolved).filter((parameter) => parameter.in === 'query')
		return { id: get.operationId, path, parameters }
	}
	throw new Error(`the contract has no ${name}.list`)
})

type Fields = Readonly<Record<string, unknown>>

/** What values of filters are made of. */
export interface Facts {
	/** Records of the list. */
	readonly records: readonly Fields[]
	/** A time with about as many records before it as after it. */
	readonly middle: number
	/** The number of records. */
	readonly count: number
}

const paging = new Set(['limit', 'offset', 'cursor', 'sortOrder'])

const texts = { 'that all have': words.all, 'that few have': words.some, 'that one has': words.one }

/** The query strings of a list, but for their limit. */
export function queriesOf({ id, parameters }: List, facts: Facts): string[] {
	const isPaged = parameters.some(({ name }) => name === 'offset')
	const alone = parameters.filter(({ name }) => !paging.has(name))
	const queries = alone.flatMap((parameter) =>
		valuesOf(id, parameter, facts).flatMap((value) => ordered(parameters, parameter.name, value)),
	)
	const paged = isPaged ? ['', `offset=${Math.floor(0.9 * facts.count)}`] : []
	return [...paged, ...queries]
}

const ordered = (parameters: readonly Parameter[], name: string, value: string) => {
	const query = `${name}=${encodeURIComponent(value)}`
	const hasOrder = name === 'sortBy' && parameters.some((parameter) => parameter.name === 'sortOrder')
	return hasOrder ? [`${query}&sortOrder=asc`, `${query}&sortOrder=desc`] : [query]
}

/** More values are those of the copies. */
const mostValues = 10

function valuesOf(list: string, { name, schema }: Parameter, { records, middle }: Facts): string[] {
	const given = resolved(schema)
	const { enum: values, type, format } = resolved(given.items ?? given)
	const ofRecord = records.map((record) => record[name]).find((value) => value !== null && value !== undefined)
	if (values && values.length > mostValues) return ['company']
	if (values) return [...values]
	if (type === 'boolean') return ['true', 'false']
	if (name === 'search' || name === 'q') return [...Object.values(texts), `${words.all} ${words.some}`]
	if (format === 'event-pattern') return ['company.created', 'company.*', '*']
	if (/(Min|Max)$/.test(name)) return ['450000']
	if (/(From|To|Since)$|^(from|to|since)$/.test(name)) return [String(middle)]
	if (name === 'resourceId') return [someCompany]
	if (ofRecord === undefined) throw new Error(`no record of ${list} has a value for its filter ${name}: lists/cases.ts needs one`)
	return name === 'currency' ? ['EUR', 'CHF'] : [String(ofRecord)]
}
