// Generates inputs from the contract's schemas: values that fit, and values with one mistake at a known place. It knows the
// keywords and formats that the contract uses, and throws on any other.
import fc from 'fast-check'
import { type JsonSchema, schemas } from '../src/platform/contract/document.ts'
import { formats, trimmed } from '../src/platform/contract/formats.ts'

/** Arbitraries that replace those of the schema for properties with these names, such as ids of existing records. */
export type Overrides = Record<string, fc.Arbitrary<unknown>>

/** A value with one mistake, and the JSON Pointer of the mistake. */
export interface Mutant {
	readonly value: unknown
	readonly pointer: string
}

const known = new Set(
	'type format minimum maximum minLength maxLength pattern enum anyOf $ref properties required additionalProperties items minItems maxItems maxProperties propertyNames description default example examples title x-open-enum x-enumDescriptions x-unit x-trimmed'.split(
		' ',
	),
)

/** The schema with its reference resolved, together with the keywords beside the reference. */
function resolve(schema: JsonSchema): JsonSchema {
	const unknown = Object.keys(schema).filter((keyword) => !known.has(keyword))
	if (unknown.length > 0) throw new Error(`arbitrary.ts does not know ${unknown.join(', ')}`)
	const { $ref, ...beside } = schema
	if (typeof $ref !== 'string') return schema
	const target = schemas[$ref.replace('#/components/schemas/', '')]
	if (!target) throw new Error(`${$ref} is not in the contract`)
	return { ...resolve(target), ...beside }
}

/** The members of an anyOf, each with the keywords beside the anyOf; else the schema itself. */
export function members(schema: JsonSchema): JsonSchema[] {
	const { anyOf, ...beside } = resolve(schema)
	if (!Array.isArray(anyOf)) return [beside]
	return anyOf.flatMap(members).map((member) => ({ ...member, ...beside }))
}

const propertiesOf = (schema: JsonSchema) => Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
const requiredOf = (schema: JsonSchema) => (schema.required ?? []) as string[]

/** Values that fit the schema. */
export function fitting(schema: JsonSchema, overrides: Overrides = {}): fc.Arbitrary<unknown> {
	return fc.oneof(...members(schema).map((member) => fittingMember(member, overrides)))
}

function fittingMember(schema: JsonSchema, overrides: Overrides): fc.Arbitrary<unknown> {
	if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
	switch (schema.type) {
		case 'null':
			return fc.constant(null)
		case 'boolean':
			return fc.boolean()
		case 'integer':
			return integers(schema)
		case 'number':
			return numbers(schema)
		case 'string':
			return strings(schema)
		case 'array':
			return fc.array(fitting(schema.items as JsonSchema, overrides), {
				minLength: Number(schema.minItems ?? 0),
				maxLength: Math.min(Number(schema.maxItems ?? 3), 3),
			})
		case 'object':
			return objects(schema, overrides)
		case undefined:
			return fc.jsonValue({ maxDepth: 3 })
	}
	throw new Error(`arbitrary.ts does not know ${JSON.stringify(schema)}`)
}

function integers(schema: JsonSchema): fc.Arbitrary<number> {
	const min = Number(schema.minimum ?? -(2 ** 31))
	const max = Number(schema.maximum ?? 2 ** 31 - 1)
	const small = fc.integer({ min: Math.max(min, Math.min(-1_000, max)), max: Math.min(max, Math.max(100_000, min)) })
	return fc.oneof(
		{ weight: 4, arbitrary: small },
		// `maxSafeInteger` with a filter hardly ever finds one within narrow bounds.
		fc.integer({ min, max }),
		fc.constantFrom(min, max),
	)
}

function numbers(schema: JsonSchema): fc.Arbitrary<number> {
	const [min, max] = [Number(schema.minimum ?? -1e6), Number(schema.maximum ?? 1e6)]
	const decimals = fc
		.tuple(fc.integer({ min: -1_000_000, max: 10_000_000 }), fc.nat({ max: 6 }))
		.map(([n, places]) => n / 10 ** places)
	const format = formats[String(schema.format)]
	const fits = (value: number) => value >= min && value <= max && (!format || format.validate(value as never))
	return fc.oneof({ weight: 4, arbitrary: decimals }, fc.constantFrom(min, max, 0, -0, 0.1, 8.1, 9.975)).filter(fits)
}

const odd = [
	'',
	' ',
	"O'Reilly",
	'"',
	'\\',
	'%',
	'__proto__',
	'null',
	'é',
	'𝕏🦊',
	'\u200d',
	'\u2028',
	'\t',
	'a\nb',
	'\ufeff',
	'😀'.repeat(90),
]
const someText = fc.oneof(
	fc.string({ unit: 'grapheme', maxLength: 30 }),
	// Any code points, as `fc.string({ unit: 'binary' })`, which takes 2 s of CPU to make. So does `fc.webPath`.
	fc
		.array(fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff })), { maxLength: 12 })
		.map((points) => String.fromCodePoint(...points)),
	fc.constantFrom(...odd),
)
const dates = fc.oneof(
	fc.constantFrom('1970-01-01', '2200-12-31', '2024-02-29', '2026-03-31T10:00:00Z', '2026-03-31t23:59:59.999999+14:00'),
	fc
		.date({ min: new Date(0), max: new Date(Date.UTC(2200, 11, 30)), noInvalidDate: true })
		.map((date) => date.toISOString().slice(0, 10)),
)
const inPath = fc.oneof(
	{ weight: 9, arbitrary: fc.constantFrom(..."abcXYZ019-._~!$&'()*+,;=:@") },
	fc.constantFrom('%20', '%2F', '%C3%A9', '%F0%9F%A6%8A'),
)
const paths = fc
	.array(fc.string({ unit: inPath, maxLength: 10 }), { maxLength: 4 })
	.map((segments) => segments.map((segment) => `/${segment}`).join(''))
const byFormat: Record<string, fc.Arbitrary<string>> = {
	text: someText,
	line: someText,
	identifier: someText,
	currency: fc.constantFrom('USD', 'EUR', 'JPY', 'KWD', 'CLP', 'XOF'),
	decimal: fc.oneof(fc.stringMatching(/^-?\d{1,4}(\.\d{1,6})?$/), fc.stringMatching(/^-?\d{1,12}(\.\d{1,6})?$/)),
	'percent-text': fc.stringMatching(/^(100(\.0{1,4})?|\d{1,2}(\.\d{1,4})?)$/),
	'date-or-date-time': dates,
	'date-time-offset': fc.oneof(
		fc.constantFrom('2026-03-31T10:00:00Z', '2026-03-31t23:59:59.999999+14:00'),
		fc.date({ min: new Date(0), max: new Date(Date.UTC(2200, 11, 30)), noInvalidDate: true }).map((date) => date.toISOString()),
	),
	email: fc.oneof(fc.emailAddress({ size: 'small' }), fc.constantFrom('info@müller.example', 'a@例え.テスト')),
	'event-pattern': fc.constantFrom('*', 'invoice.*', 'invoice.paid', 'webhook.endpoint.*', 'time_entry.deleted'),
	'event-cursor': fc.stringMatching(/^\d{1,15}$/),
	'header-name': fc.stringMatching(/^x-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,30}$/),
	'header-value': fc.stringMatching(/^[!-~]{1,40}$/),
	'webhook-url': fc
		.tuple(fc.constantFrom('http', 'https', 'HTTPS'), fc.constantFrom('', ':1', ':65535'), paths)
		.map(([scheme, port, path]) => `${scheme}://receiver.example${port}${path.replace(/^(?!\/)/, '/')}`),
	'time-zone': fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'America/St_Johns'),
	locale: fc.constantFrom('en-US', 'de', 'ar-EG', 'zh-Hant-TW', 'hi-IN-u-nu-deva'),
}

/** By pattern: each takes some milliseconds to make. */
const matching = new Map<string, fc.Arbitrary<string>>()

function textMatching(pattern: string): fc.Arbitrary<string> {
	const made = matching.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'))
	matching.set(pattern, made)
	return made
}

function strings(schema: JsonSchema): fc.Arbitrary<string> {
	const { format, pattern, minLength = 0, maxLength = Infinity } = schema
	const pattern_ = typeof pattern === 'string' ? new RegExp(pattern, 'u') : undefined
	const whole = typeof pattern === 'string' && pattern.startsWith('^')
	const base = format ? byFormat[String(format)] : whole ? textMatching(pattern) : someText
	if (!base) throw new Error(`arbitrary.ts does not know the format ${format}`)
	return (schema['x-trimmed'] ? base.map(trimmed) : base).filter((text) => {
		const length = [...text].length
		const rule = formats[String(format)]
		return (
			length >= Number(minLength) &&
			length <= Number(maxLength) &&
			(pattern_?.test(text) ?? true) &&
			(rule?.validate(text as never) ?? true)
		)
	})
}

/** Texts that a pattern does not match. */
export const unlike = (pattern: string): string[] =>
	['a/b', 'a b', 'é', "' or 1=1", 'a\n'].filter((text) => !new RegExp(pattern, 'u').test(text))

function objects(schema: JsonSchema, overrides: Overrides): fc.Arbitrary<Record<string, unknown>> {
	if (typeof schema.additionalProperties === 'object') {
		const names = schema.propertyNames as JsonSchema | undefined
		const keys = names ? (fitting(names) as fc.Arbitrary<string>) : someText
		return fc.dictionary(
			fc.oneof(keys, fc.constantFrom('__proto__', 'constructor', 'a/b~c')),
			fitting(schema.additionalProperties as JsonSchema),
			{ maxKeys: 3 },
		)
	}
	const entries = propertiesOf(schema).map(([name, property]) => [
		name,
		overridden(property, overrides[name]) ?? fitting(property, overrides),
	])
	return fc.record(Object.fromEntries(entries), { requiredKeys: requiredOf(schema) as never[] }).map((value) => ({ ...value }))
}

/** An override that may also be null when the property's schema allows null. */
function overridden(schema: JsonSchema, override: fc.Arbitrary<unknown> | undefined): fc.Arbitrary<unknown> | undefined {
	if (!override || !members(schema).some(({ type }) => type === 'null')) return override
	return fc.option(override, { freq: 5 })
}

const wrong: [type: string, value: unknown][] = [
	['null', null],
	['boolean', true],
	['number', 1.5],
	['string', 'text'],
	['array', []],
	['object', {}],
]

const badText: Record<string, string[]> = {
	text: ['a\0b', 'half \ud800'],
	line: ['a\nb', 'a\u0085b', 'a\0b', 'a\u200bb'],
	identifier: ['a\nb', 'a\u00a0b', 'a\u00adb'],
	currency: ['ABC', 'usd', 'EU ', 'XAU', 'CLF'],
	decimal: ['1,5', '1.1234567', '', '.5', '1e3', '0x10', '١'],
	'percent-text': ['100.1', '-1', '9.97512', ''],
	'date-or-date-time': ['2026-02-30', '2026-03-31T10:00', '1969-12-31', '2201-01-01', 'yesterday', '2026-3-1', ''],
	'date-time-offset': ['2026-03-31', '2026-02-30T10:00:00Z', '2026-03-31T10:00', ''],
	'time-zone': ['Mars/Olympus', 'CEST+1', ''],
	locale: ['english', 'en_US', ''],
	email: ['nobody', 'a@b', 'a b@c.example', 'a@b.example\n', '@b.example'],
}

/** Values that are wrong as a whole: by type, bounds, length, pattern, format or enum. */
function wrongWholes(schema: JsonSchema): unknown[] {
	const all = members(schema)
	const types = new Set(all.map(({ type }) => (type === 'integer' ? 'number' : type)))
	const found = wrong.filter(([type]) => !types.has(type)).map(([, value]) => value)
	for (const member of all) {
		if (member.enum) found.push('nonsense')
		else if (member.type === 'integer') found.push(1.5, 2 ** 53, -(2 ** 53))
		else if (member.format === 'percent') found.push(9.97512, 1e-7, -0.0001, 100.0001)
		else if (member.format === 'decimal-number') found.push(1e-7, 0.1234567)
		if (member.minimum !== undefined) found.push(Number(member.minimum) - 1)
		if (member.maximum !== undefined) found.push(Number(member.maximum) + 1)
		if (member.type === 'string') {
			if (member.maxLength !== undefined) found.push('7'.repeat(Number(member.maxLength) + 1))
			if (member.minLength !== undefined) found.push('')
			if (member.pattern === '\\S') found.push('   ')
			else if (typeof member.pattern === 'string') found.push(...unlike(member.pattern))
			found.push(...(badText[String(member.format)] ?? []))
		}
		if (Number(member.minItems) > 0) found.push([])
		if (member.type === 'array' && member.maxItems !== undefined)
			found.push(Array(Number(member.maxItems) + 1).fill(filler(member.items as JsonSchema)))
		if (member.type === 'object' && member.maxProperties !== undefined) {
			found.push(Object.fromEntries(Array.from({ length: Number(member.maxProperties) + 1 }, (_, index) => [`key${index}`, 'x'])))
		}
	}
	return found
}

const filler = (schema: JsonSchema) => fc.sample(fitting(schema), { numRuns: 1, seed: 1 })[0]

/** Values with one mistake somewhere. */
export function mutants(schema: JsonSchema, depth = 0): fc.Arbitrary<Mutant> {
	const choices: fc.Arbitrary<Mutant>[] = [fc.constantFrom(...wrongWholes(schema)).map((value) => ({ value, pointer: '' }))]
	for (const member of members(schema)) {
		if (member.type === 'array' && depth < 5) choices.push(itemMutants(member, depth))
		if (member.type === 'object') choices.push(...objectMutants(member, depth))
	}
	return fc.oneof(...choices)
}

function itemMutants(schema: JsonSchema, depth: number): fc.Arbitrary<Mutant> {
	const items = schema.items as JsonSchema
	return fc.tuple(fc.array(fitting(items), { maxLength: 2 }), mutants(items, depth + 1)).map(([before, mutant]) => ({
		value: [...before, mutant.value],
		pointer: `/${before.length}${mutant.pointer}`,
	}))
}

function objectMutants(schema: JsonSchema, depth: number): fc.Arbitrary<Mutant>[] {
	const whole = objects(schema, {})
	if (typeof schema.additionalProperties === 'object') {
		const below = schema.additionalProperties as JsonSchema
		// Nothing is wrong where anything may be.
		if (Object.keys(below).length === 0) return []
		const choices: fc.Arbitrary<Mutant>[] = [
			mutants(below, depth + 1).map(({ value, pointer }) => ({ value: { key: value }, pointer: `/key${pointer}` })),
		]
		// The place of an invalid property name is the object that has the property.
		const bad = schema.propertyNames
			? wrongWholes(schema.propertyNames as JsonSchema).filter((name) => typeof name === 'string')
			: []
		if (bad.length > 0) choices.push(fc.constantFrom(...bad).map((name) => ({ value: { [name]: filler(below) }, pointer: '' })))
		return choices
	}
	const unexpected = fc.constantFrom('unexpected', 'organizationId', '__proto__', 'constructor')
	const choices = propertiesOf(schema).map(([name, property]) =>
		fc.tuple(whole, mutants(property, depth + 1)).map(([value, mutant]) => ({
			value: { ...value, [name]: mutant.value },
			pointer: `/${name}${mutant.pointer}`,
		})),
	)
	choices.push(fc.tuple(whole, unexpected).map(([value, name]) => ({ value: { ...value, [name]: 1 }, pointer: `/${name}` })))
	for (const name of requiredOf(schema)) {
		choices.push(whole.map(({ [name]: _dropped, ...value }) => ({ value, pointer: `/${name}` })))
	}
	return choices
}
