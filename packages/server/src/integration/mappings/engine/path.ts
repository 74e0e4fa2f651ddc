// Paths into a record: names with dots, `[n]`, and one filter, as in `addresses[type=BILLING].city`. They are compiled once, and
// read own properties only.
import { type Budget, FieldFailure, isAbsent, type Scalar, type Value } from './values.ts'

type Step =
	| { readonly name: string }
	| { readonly index: number }
	/** The first item of a list whose field `where` is `equals`. */
	| { readonly where: string; readonly equals: string }

export type Path = readonly Step[]

const maxLength = 500
const maxSteps = 20
/** How many items of a list a filter looks at, and how many a list may have as a value. */
const maxItems = 1_000
/** The largest index in a target, whose list grows to it. */
const maxTargetIndex = 99

const token = /(?:^|(?!^)\.)([^.[\]{}=\p{Cc}]+)|\[(\d{1,4})\]|\[([^.[\]{}=\p{Cc}]+)=([^[\]{}=\p{Cc}]*)\]/uy
const refused = new Set(['__proto__', 'constructor', 'prototype'])

export class InvalidPath extends Error {}

/** Throws InvalidPath for a text that is no path. */
export function parsePath(text: string): Path {
	if (text.length > maxLength) throw new InvalidPath(`A path has at most ${maxLength} characters.`)
	const steps: Step[] = []
	for (let at = 0; at < text.length; at = token.lastIndex) {
		token.lastIndex = at
		const found = token.exec(text)
		if (!found) throw new InvalidPath(`${quoted(text)} is no path from character ${at + 1} on.`)
		const [, name, index, where, equals = ''] = found
		const named = name ?? where
		if (named !== undefined && refused.has(named)) throw new InvalidPath(`A path may not name ${named}.`)
		if (name !== undefined) steps.push({ name })
		else if (where !== undefined) steps.push({ where, equals })
		else steps.push({ index: Number(index) })
		if (steps.length > maxSteps) throw new InvalidPath(`A path has at most ${maxSteps} steps.`)
	}
	if (steps.length === 0 || !('name' in (steps[0] as Step))) throw new InvalidPath('A path begins with a name.')
	if (steps.filter((step) => 'where' in step).length > 1) throw new InvalidPath('A path has at most one filter.')
	return steps
}

/** A path to write to: without filters, and with small indexes. */
export function parseTarget(text: string): Path {
	const path = parsePath(text)
	for (const step of path) {
		if ('where' in step) throw new InvalidPath('A target has no filter.')
		if ('index' in step && step.index > maxTargetIndex)
			throw new InvalidPath(`An index of a target is at most ${maxTargetIndex}.`)
	}
	return path
}

const quoted = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** The value at a path; undefined where the record has none. Throws FieldFailure for an object. */
export function readPath(path: Path, record: unknown, budget: Budget): Value {
	let value = record
	for (const step of path) {
		value = follow(step, value, budget)
		if (value === undefined) return undefined
	}
	const found = asValue(value)
	budget.pay(found)
	return found
}

function follow(step: Step, value: unknown, budget: Budget): unknown {
	budget.spend(1)
	if ('name' in step) return own(value, step.name)
	if (!Array.isArray(value)) return undefined
	if ('index' in step) return value[step.index]
	for (let at = 0; at < value.length && at < maxItems; at++) {
		budget.spend(1)
		const found = own(value[at], step.where)
		if (isScalar(found) && String(found) === step.equals) return value[at]
	}
	return undefined
}

function own(value: unknown, name: string): unknown {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
	return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

const isScalar = (value: unknown): value is Scalar => value === null || /^(string|number|boolean)$/.test(typeof value)

function asValue(value: unknown): Value {
	if (isAbsent(value) || isScalar(value)) return value
	if (!Array.isArray(value)) throw new FieldFailure('type', 'The path leads to an object; name a field of it.')
	if (value.length > maxItems) throw new FieldFailure('too_long', `A list has at most ${maxItems} items.`)
	if (!value.every(isScalar)) throw new FieldFailure('type', 'The path leads to a list of objects or lists; name an item of it.')
	return value
}

type Container = Record<string | number, unknown>

/** Writes a value into the output of a record, with the objects and lists around it. */
export function writePath(path: Path, output: object, value: Value): void {
	let container = output as Container
	for (const [at, step] of path.entries()) {
		const key = keyOf(step)
		if (Array.isArray(container) !== 'index' in step)
			throw new FieldFailure('type', 'Another target makes a list of what this one makes an object of.')
		if (typeof key === 'number' && key > (container as unknown as unknown[]).length)
			throw new FieldFailure('gap', `The item before [${key}] has no field yet: targets fill a list from [0] on.`)
		const next = path[at + 1]
		// What every object inherits, as toString, is no place to write into.
		if (next && !Object.hasOwn(container, key)) container[key] = 'index' in next ? [] : {}
		if (next) container = container[key] as Container
		else container[key] = value
	}
}

const keyOf = (step: Step): string | number => ('name' in step ? step.name : 'index' in step ? step.index : '')

/** What a record has at a path without filters, whatever it is: a value, an object or a list. */
export const memberAt = (path: Path, record: unknown): unknown =>
	path.reduce<unknown>((part, step) => {
		const key = keyOf(step)
		return part instanceof Object && Object.hasOwn(part, key) ? part[key as never] : undefined
	}, record)

/** The places that a target writes into, from the outermost on; the last one is its own. */
export const placesOf = (path: Path): string[] => path.map((_, at) => JSON.stringify(path.slice(0, at + 1)))
