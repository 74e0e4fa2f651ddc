// Maps a record to another by a list of fields. Pure: it reads nothing but the record. Its cost is bounded by the record's budget.
import { InvalidPath, type Path, parsePath, parseTarget, placesOf, readPath, writePath } from './path.ts'
import { fill, parseTemplate, type Template } from './template.ts'
import {
	compilePaths,
	definitionOf,
	givesOf,
	type Links,
	parameterMistake,
	type Step,
	stepOf,
	type TransformSpec,
} from './transforms.ts'
import {
	Budget,
	FieldFailure,
	fits,
	isAbsent,
	RecordTooLarge,
	type Scalar,
	typeOf,
	type Value,
	type ValueType,
} from './values.ts'

/** A field as callers write it. */
export interface FieldSpec {
	readonly target: string
	readonly source?: string
	readonly constant?: Scalar
	readonly template?: string
	readonly transforms?: readonly TransformSpec[]
	readonly default?: Scalar
	readonly required?: boolean
	readonly onError?: 'fail_record' | 'use_default' | 'skip_field'
}

/** What is wrong with a list of fields, and the place in it. */
export interface Mistake {
	readonly pointer: string
	readonly code: string
	readonly message: string
}

type Origin = { readonly path: Path } | { readonly template: Template } | { readonly constant: Scalar }

export interface CompiledField {
	readonly spec: FieldSpec
	readonly target: Path
	readonly origin: Origin
	readonly steps: readonly Step[]
}

/** Compiles fields; `mistakes` says what is wrong with those that are left out. */
export function compileFields(specs: readonly FieldSpec[]): { fields: CompiledField[]; mistakes: Mistake[] } {
	const mistakes: Mistake[] = []
	const fields = specs.flatMap((spec, index) => {
		const own: Mistake[] = []
		const field = compileField(spec, (place, code, message) => own.push({ pointer: `/${index}${place}`, code, message }))
		mistakes.push(...own)
		return field && own.length === 0 ? [field] : []
	})
	return { fields, mistakes: [...mistakes, ...overlaps(specs)] }
}

type Note = (place: string, code: string, message: string) => void

function compileField(spec: FieldSpec, note: Note): CompiledField | undefined {
	const { target, transforms = [] } = spec
	const path = attempt(note, '/target', () => parseTarget(target))
	const origin = compileOrigin(spec, note)
	const steps = transforms.map((transform, index) => {
		const mistake = parameterMistake(transform)
		const place = `/transforms/${index}`
		if (mistake) note(`${place}${mistake.parameter ? `/${mistake.parameter}` : ''}`, 'invalid_transform', mistake.message)
		const { paths, wrong } = compilePaths(transform)
		for (const [at, message] of wrong) note(place + at, 'invalid_path', message)
		return mistake ? undefined : stepOf(transform, paths)
	})
	// What it would look up with a link that is not found yet, nobody could know before.
	if (transforms.filter(({ name }) => name === 'lookupLink').length > 1)
		note('/transforms', 'invalid_transform', 'A field looks up one link.')
	if (!path || !origin) return undefined
	return { spec, target: path, origin, steps: steps.filter((step) => step !== undefined) }
}

function compileOrigin({ source, constant, template }: FieldSpec, note: Note): Origin | undefined {
	if ([source, constant, template].filter((origin) => origin !== undefined).length !== 1) {
		note('', 'invalid_field', 'A field has exactly one of source, constant and template.')
		return undefined
	}
	if (source !== undefined) {
		const path = attempt(note, '/source', () => parsePath(source))
		return path && { path }
	}
	if (template === undefined) return { constant: constant as Scalar }
	const parsed = attempt(note, '/template', () => parseTemplate(template))
	return parsed && { template: parsed }
}

function attempt<T>(note: Note, place: string, parse: () => T): T | undefined {
	try {
		return parse()
	} catch (error) {
		if (!(error instanceof InvalidPath)) throw error
		note(place, 'invalid_path', error.message)
		return undefined
	}
}

/** Targets that another field writes as well, or around. */
function overlaps(specs: readonly FieldSpec[]): Mistake[] {
	const whole = new Map<string, number>()
	const around = new Set<string>()
	const places = specs.map(
		({ target }) =>
			attempt(
				() => {},
				'',
				() => placesOf(parseTarget(target)),
			) ?? [],
	)
	for (const own of places) {
		const last = own.at(-1)
		if (last !== undefined) whole.set(last, (whole.get(last) ?? 0) + 1)
		for (const place of own.slice(0, -1)) around.add(place)
	}
	return places.flatMap((own, index) => {
		const last = own.at(-1) ?? ''
		if ((whole.get(last) ?? 0) < 2 && !around.has(last)) return []
		return [{ pointer: `/${index}/target`, code: 'duplicate_target', message: 'Another field has this target, or a part of it.' }]
	})
}

/** Checks the types of a field's transforms, from that of its source to that of its target. */
export function checkTypes({ spec, origin }: CompiledField, source: ValueType, target: ValueType): Mistake[] {
	const from = 'path' in origin ? source : 'template' in origin ? 'text' : typeOf(origin.constant)
	let type = from
	for (const [index, transform] of (spec.transforms ?? []).entries()) {
		const definition = definitionOf(transform.name)
		const before = type
		if (!definition?.takes.some((taken) => fits(before, taken))) {
			const message = `${transform.name} takes ${definition?.takes.join(', ')}, and here is ${before}.`
			return [{ pointer: `/transforms/${index}`, code: 'type_mismatch', message }]
		}
		type = givesOf(definition, transform)
	}
	if (fits(type, target)) return []
	return [{ pointer: '/target', code: 'type_mismatch', message: `The target takes ${target}, and the field gives ${type}.` }]
}

/** The paths that the fields read, each down to its first list: what to ask a provider for. */
export function pathsRead(fields: readonly CompiledField[]): string[] {
	const paths = fields.flatMap(({ spec, origin }): Path[] => [
		...('path' in origin ? [origin.path] : []),
		...('template' in origin ? origin.template.filter((part) => typeof part !== 'string') : []),
		...(spec.transforms ?? []).flatMap(({ currencyPath, paths = [] }) =>
			[...(currencyPath === undefined ? [] : [currencyPath]), ...paths].map(parsePath),
		),
	])
	return [...new Set(paths.map(namesOf))]
}

/** `a.b[0].c` → `a.b`. */
export function namesOf(path: Path): string {
	const list = path.findIndex((step) => !('name' in step))
	const names = list === -1 ? path : path.slice(0, list)
	return names.map((step) => ('name' in step ? step.name : '')).join('.')
}

export interface FieldError {
	/** The field's target. */
	readonly field: string
	readonly code: string
	readonly reason: string
	/** What the record has in the field, cut; absent where nobody said. */
	readonly value?: string
	/** Of several records that match: the ids of the first of them. */
	readonly candidates?: string[]
}

export interface Mapped {
	/** Null when the record failed. */
	readonly output: Record<string, unknown> | null
	readonly errors: readonly FieldError[]
}

/** What the fields look up of records, by object: found out before, so that nothing waits while a record is mapped. */
export function lookUpsOf(fields: readonly CompiledField[], records: readonly unknown[]): Map<string, Set<string>> {
	const found = new Map<string, Set<string>>()
	const own = fields.filter(({ spec }) => spec.transforms?.some(({ name }) => name === 'lookupLink'))
	if (own.length === 0) return found
	for (const record of records)
		mapRecord(own, record, (object, id) => {
			found.set(object, (found.get(object) ?? new Set()).add(id))
			return undefined
		})
	return found
}

const noLinks: Links = () => undefined

/** Maps a record, whatever it is; never throws. `links` says what `lookupLink` finds. */
export function mapRecord(fields: readonly CompiledField[], record: unknown, links: Links = noLinks): Mapped {
	const output: Record<string, unknown> = {}
	const errors: FieldError[] = []
	const budget = new Budget()
	let failed = false
	for (const field of fields) {
		const { target, onError = 'fail_record' } = field.spec
		const note = ({ code, message }: { code: string; message: string }) => errors.push({ field: target, code, reason: message })
		try {
			const error = writeField(field, record, output, { budget, links })
			if (error) note(error)
			failed ||= error !== undefined && onError === 'fail_record'
		} catch (error) {
			failed = true
			if (error instanceof FieldFailure) note(error)
			else if (error instanceof RecordTooLarge) {
				note({ code: 'too_large', message: error.message })
				break
			} else throw error
		}
	}
	return { output: failed ? null : output, errors }
}

interface Means {
	readonly budget: Budget
	readonly links: Links
}

/** Returns the error that the field's `onError` has dealt with; throws FieldFailure for one that fails the record all the same. */
function writeField(field: CompiledField, record: unknown, output: object, means: Means): FieldFailure | undefined {
	const { required, onError, default: fallback } = field.spec
	let failure: FieldFailure | undefined
	let value: Value
	try {
		value = resultOf(field, record, means)
	} catch (error) {
		if (!(error instanceof FieldFailure)) throw error
		failure = error
	}
	if (!failure && isAbsent(value)) value = fallback ?? value
	if (failure && onError === 'use_default') value = fallback
	if (required && isAbsent(value))
		throw failure ?? new FieldFailure('required', 'The field is required, and the record has no value for it.')
	if (value === undefined) return failure
	means.budget.pay(value)
	writePath(field.target, output, value)
	return failure
}

function resultOf({ origin, steps }: CompiledField, record: unknown, { budget, links }: Means): Value {
	const first =
		'path' in origin
			? readPath(origin.path, record, budget)
			: 'template' in origin
				? fill(origin.template, record, budget)
				: origin.constant
	return steps.reduce((value: Value, step) => step(value, record, budget, links), first)
}
