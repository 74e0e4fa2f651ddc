// Whether a provider has what was written. Providers answer numbers as text and text as numbers, nothing as '', and more than they were given.

const decimal = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i
/** A zero in front says something, unless it stands alone: 0049 is a prefix of telephones, and not 49. */
const zeroInFront = /^-?0\d/

/** Whether `found` has all of `written`. A number is the same however it is spelled: 12.5 as "12.50". */
export function isAsWritten(written: unknown, found: unknown): boolean {
	if (Array.isArray(written))
		return written.length === lengthOf(found) && written.every((value, at) => isAsWritten(value, (found as unknown[])[at]))
	if (written instanceof Object)
		return (
			!isScalar(found) && Object.entries(written).every(([name, value]) => isAsWritten(value, (found as Members | null)?.[name]))
		)
	return !(found instanceof Object) && isSame(written ?? '', found ?? '')
}

type Members = Readonly<Record<string, unknown>>

/** No list is one without items; undefined for what cannot be a list. */
const lengthOf = (found: unknown) => (Array.isArray(found) ? found.length : (found ?? '') === '' ? 0 : undefined)

const isScalar = (found: unknown) => !(found instanceof Object) && (found ?? '') !== ''

function isSame(one: unknown, other: unknown): boolean {
	const [a, b] = [String(one), String(other)]
	if (a === b) return true
	if (!decimal.test(a) || !decimal.test(b) || Number(a) !== Number(b)) return false
	return typeof one === 'number' || typeof other === 'number' || (isMoney(a, b) && !zeroInFront.test(a) && !zeroInFront.test(b))
}

/** Texts that are not the same to a float, or differ by more than zeros at the end, are other texts. */
const isMoney = (a: string, b: string) => withoutZeros(a) === withoutZeros(b)

const withoutZeros = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
