// The transforms: each with the types that it takes and gives, its parameters, and what it does.
import { type DateFormat, readDate, writeDate } from './dates.ts'
import { fromCents, toCents } from './money.ts'
import { InvalidPath, type Path, parsePath, readPath } from './path.ts'
import { countryOf, domainOf } from './places.ts'
import { type Budget, FieldFailure, fits, isAbsent, type Scalar, textOf, typeOf, type Value, type ValueType } from './values.ts'

export interface TransformSpec {
	readonly name: string
	readonly format?: DateFormat
	readonly currency?: string
	readonly currencyPath?: string
	readonly values?: Readonly<Record<string, string>>
	readonly otherwise?: string
	readonly paths?: readonly string[]
	readonly separator?: string
	readonly index?: number
	readonly length?: number
	readonly object?: string
}

/** The id of the other side of a link, by that of one side: of a record of `object` at the provider, or of the record in Remit. */
export type Links = (object: string, id: string) => string | undefined

type Parameter = Exclude<keyof TransformSpec, 'name'>

/** What a transform has while it runs. */
interface Running {
	readonly spec: TransformSpec
	readonly record: unknown
	readonly budget: Budget
	readonly links: Links
	/** The value of a path that a parameter has. */
	at(path: string): Value
}

interface Definition {
	readonly takes: readonly ValueType[]
	readonly gives: ValueType | ((spec: TransformSpec) => ValueType)
	/** Parameters that it needs; of those in a list, exactly one. */
	readonly needs?: readonly (Parameter | readonly Parameter[])[]
	readonly may?: readonly Parameter[]
	/** Whether it runs without a value, too. */
	readonly takesAbsent?: true
	run(value: Value, running: Running): Value
}

const scalar = ['text', 'integer', 'number', 'boolean'] as const
const number = ['text', 'integer', 'number'] as const

const text = (run: (value: string, spec: TransformSpec) => Value, more: Partial<Definition> = {}): Definition => ({
	takes: ['text'],
	gives: 'text',
	run: (value, { spec }) => run(value as string, spec),
	...more,
})

const currencyOf = ({ spec: { currency, currencyPath = '' }, at }: Running) => {
	const found = currency ?? at(currencyPath)
	return typeof found === 'string' ? found.trim().toUpperCase() : ''
}

const givesDate = ({ format }: TransformSpec): ValueType => (format?.startsWith('unix') ? 'integer' : 'text')

export const transforms: Readonly<Record<string, Definition>> = {
	trim: text((value) => value.trim()),
	lower: text((value) => value.toLowerCase()),
	upper: text((value) => value.toUpperCase()),
	toString: text((value) => value, { takes: scalar, run: textOf }),
	toInteger: { takes: number, gives: 'integer', run: (value) => toInteger(textOf(value).trim()) },
	toNumber: { takes: number, gives: 'number', run: (value) => toNumber(textOf(value).trim()) },
	toBoolean: { takes: ['text', 'integer', 'boolean'], gives: 'boolean', run: (value) => toBoolean(textOf(value)) },
	parseDate: {
		takes: number,
		gives: 'integer',
		needs: ['format'],
		run: (value, { spec }) =>
			requireFound(readDate(textOf(value), spec.format as DateFormat), 'invalid_date', 'a date in this format'),
	},
	formatDate: {
		takes: ['integer'],
		gives: givesDate,
		needs: ['format'],
		run: (value, { spec }) => writeDate(requireDate(value as number), spec.format as DateFormat),
	},
	toCents: {
		takes: number,
		gives: 'integer',
		needs: [['currency', 'currencyPath']],
		run: (value, running) => toCents(textOf(value), currencyOf(running)),
	},
	fromCents: {
		takes: ['integer'],
		gives: 'text',
		needs: [['currency', 'currencyPath']],
		run: (value, running) => fromCents(value as number, currencyOf(running)),
	},
	enumMap: {
		takes: ['text', 'integer', 'boolean'],
		gives: 'text',
		needs: ['values'],
		may: ['otherwise'],
		run: (value, { spec: { values = {}, otherwise } }) => {
			const key = textOf(value)
			return requireFound(Object.hasOwn(values, key) ? values[key] : otherwise, 'unmapped_value', 'one of the values')
		},
	},
	concat: {
		takes: [...scalar, 'list'],
		gives: 'text',
		needs: ['paths'],
		may: ['separator'],
		takesAbsent: true,
		run: concat,
	},
	split: {
		takes: ['text'],
		gives: ({ index }) => (index === undefined ? 'list' : 'text'),
		needs: ['separator'],
		may: ['index'],
		run: (value, { spec: { separator = '', index } }) => split(value as string, separator, index),
	},
	coalesce: {
		takes: ['any'],
		gives: 'any',
		needs: ['paths'],
		takesAbsent: true,
		run: (value, { spec: { paths = [] }, at }) => {
			if (!isEmpty(value)) return value
			for (const path of paths) {
				const found = at(path)
				if (!isEmpty(found)) return found
			}
			return undefined
		},
	},
	domainFromUrl: text((value) => requireFound(domainOf(value), 'no_domain', 'a URL, a host or an e-mail address')),
	countryCode: text((value) => requireFound(countryOf(value), 'no_country', 'the name or the code of a country')),
	truncate: text((value, { length = 0 }) => truncate(value, length), { needs: ['length'] }),
	lookupLink: {
		takes: ['text', 'integer'],
		gives: 'text',
		needs: ['object'],
		run: (value, { spec: { object = '' }, links }) => {
			const found = links(object, textOf(value))
			if (found === undefined) throw new FieldFailure('not_linked', `No record of ${object} with this id is linked.`)
			return found
		},
	},
}

const isEmpty = (value: Value) => isAbsent(value) || value === ''

function requireFound<T>(found: T | undefined, code: string, what: string): T {
	if (found === undefined) throw new FieldFailure(code, `The value is not ${what}.`)
	return found
}

function toInteger(value: string): number {
	const found = /^[+-]?\d{1,16}(\.0{1,6})?$/.test(value) ? Number(value) : Number.NaN
	return requireFound(Number.isSafeInteger(found) ? found || 0 : undefined, 'not_integer', 'a whole number')
}

function toNumber(value: string): number {
	const found = value.length <= 40 && /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(value) ? Number(value) : Number.NaN
	return requireFound(Number.isFinite(found) ? found || 0 : undefined, 'not_number', 'a number')
}

const truth: Readonly<Record<string, boolean>> = {
	...{ true: true, yes: true, y: true, on: true, 1: true },
	...{ false: false, no: false, n: false, off: false, 0: false },
}

function toBoolean(value: string): boolean {
	const key = value.slice(0, 10).trim().toLowerCase()
	return requireFound(
		Object.hasOwn(truth, key) ? truth[key] : undefined,
		'not_boolean',
		'true, yes, on or 1, nor false, no, off or 0',
	)
}

const lastDate = 8_640_000_000_000_000

const requireDate = (ms: number) =>
	requireFound(Math.abs(ms) <= lastDate / 1_000 ? ms : undefined, 'invalid_date', 'Unix milliseconds of a date')

function concat(value: Value, { spec: { paths = [], separator = '' }, at, budget }: Running): Value {
	const all = [value, ...paths.map(at)].flat().filter((item) => !isEmpty(item)) as Scalar[]
	if (all.length === 0) return undefined
	budget.spend(all.length * separator.length)
	return all.map(textOf).join(separator)
}

/** The most parts of a list that `split` gives. */
const maxParts = 1_000

function split(value: string, separator: string, index: number | undefined): Value {
	const parts = value.split(separator, maxParts + 1)
	if (index !== undefined) return parts[index]
	if (parts.length > maxParts) throw new FieldFailure('too_long', `The value has more than ${maxParts} parts.`)
	return parts
}

/** The beginning of a text, without half of a surrogate pair at its end. */
function truncate(value: string, length: number): string {
	const cut = value.slice(0, length)
	return cut.length < value.length && /[\ud800-\udbff]$/.test(cut.slice(-1)) ? cut.slice(0, -1) : cut
}

export const givesOf = (definition: Definition, spec: TransformSpec): ValueType =>
	typeof definition.gives === 'string' ? definition.gives : definition.gives(spec)

/** What is wrong with a transform's parameters; undefined if nothing is. */
export function parameterMistake(spec: TransformSpec): { readonly parameter?: string; readonly message: string } | undefined {
	const definition = definitionOf(spec.name)
	if (!definition) return { parameter: 'name', message: `There is no transform ${spec.name}.` }
	const { needs = [], may = [] } = definition
	const taken = [...needs.flat(), ...may]
	const given = (Object.keys(spec) as (Parameter | 'name')[]).filter((name) => spec[name] !== undefined && name !== 'name')
	const foreign = given.find((name) => !(taken as string[]).includes(name))
	if (foreign) return { parameter: foreign, message: `${spec.name} takes no ${foreign}.` }
	for (const need of needs) {
		const of = [need].flat()
		if (of.filter((name) => spec[name] !== undefined).length !== 1)
			return { message: `${spec.name} needs ${of.length > 1 ? 'exactly one of ' : ''}${of.join(', ')}.` }
	}
	return undefined
}

export const definitionOf = (name: string): Definition | undefined =>
	Object.hasOwn(transforms, name) ? transforms[name] : undefined

interface Paths {
	readonly paths: ReadonlyMap<string, Path>
	/** The places of those that are none, each with what is wrong. */
	readonly wrong: readonly (readonly [place: string, message: string])[]
}

/** The paths of a transform's parameters by their text. */
export function compilePaths({ currencyPath, paths = [] }: TransformSpec): Paths {
	const places: [place: string, text: string][] = paths.map((text, index) => [`/paths/${index}`, text])
	if (currencyPath !== undefined) places.push(['/currencyPath', currencyPath])
	const found = new Map<string, Path>()
	const wrong: [string, string][] = []
	for (const [place, text] of places) {
		try {
			found.set(text, parsePath(text))
		} catch (error) {
			if (!(error instanceof InvalidPath)) throw error
			wrong.push([place, error.message])
		}
	}
	return { paths: found, wrong }
}

function requireTaken({ takes }: Definition, name: string, value: Value): void {
	const type = typeOf(value)
	if (!isAbsent(value) && !takes.some((taken) => fits(type, taken)))
		throw new FieldFailure('type', `${name} takes ${takes.join(', ')}, and not ${type}.`)
}

export type Step = (value: Value, record: unknown, budget: Budget, links: Links) => Value

/** A transform whose parameters and paths are right, as a function. */
export function stepOf(spec: TransformSpec, paths: ReadonlyMap<string, Path>): Step {
	const definition = definitionOf(spec.name) as Definition
	return (value, record, budget, links) => {
		if (isAbsent(value) && !definition.takesAbsent) return value
		requireTaken(definition, spec.name, value)
		const at = (path: string) => readPath(paths.get(path) as Path, record, budget)
		budget.pay(value)
		const result = definition.run(value, { spec, record, budget, links, at })
		budget.pay(result)
		return result
	}
}
