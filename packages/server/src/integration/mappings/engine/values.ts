// What the engine works on, and how it fails.

export type Scalar = string | number | boolean | null

/** A value of a field; undefined where a record has none. */
export type Value = Scalar | undefined | readonly Scalar[]

/** What a transform takes or gives; `any` is known only when a record is mapped. */
export type ValueType = 'text' | 'integer' | 'number' | 'boolean' | 'list' | 'any'

/** A value cannot be mapped. The field's `onError` says what follows. */
export class FieldFailure extends Error {
	readonly code: string

	constructor(code: string, reason: string) {
		super(reason)
		this.code = code
	}
}

/** A record is too much work. It fails, whatever its fields say. */
export class RecordTooLarge extends Error {}

/** What a record may cost: a unit for each character that is read or made, and for each item that is looked at. */
const unitsOfRecord = 500_000

export class Budget {
	#left = unitsOfRecord

	spend(units: number): void {
		this.#left -= units
		if (this.#left < 0) throw new RecordTooLarge(`The record takes more than ${unitsOfRecord} steps to map.`)
	}

	/** Pays for a value; a list costs as its items do. */
	pay(value: Value): void {
		if (Array.isArray(value)) for (const item of value) this.pay(item)
		else this.spend(typeof value === 'string' ? value.length + 1 : 1)
	}
}

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

export function typeOf(value: Value): ValueType {
	if (Array.isArray(value)) return 'list'
	if (typeof value === 'string') return 'text'
	if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
	return typeof value === 'boolean' ? 'boolean' : 'any'
}

/** Whether a value of one type may stand where another is wanted. */
export const fits = (type: ValueType, wanted: ValueType): boolean =>
	type === wanted || type === 'any' || wanted === 'any' || (type === 'integer' && wanted === 'number')

/** A value as text; a list has none. */
export function textOf(value: Value): string {
	if (typeof value === 'string') return value
	if (typeof value === 'number' || typeof value === 'boolean') return String(value)
	throw new FieldFailure('type', `A ${typeOf(value)} cannot be text.`)
}
