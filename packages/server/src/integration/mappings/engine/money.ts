// Amounts between decimal text and minor units, exactly: no amount passes through a float.
import { minorDigits } from '../../../platform/base/currencies.ts'
import { fixedDecimal, parseDecimal } from '../../../platform/base/decimal.ts'
import { FieldFailure } from './values.ts'

const decimal = /^[+-]?\d{1,15}(\.\d{1,30})?$/

/** The minor units of an amount such as `12.34`. A part below the minor unit is an error: rounding would change what is owed. */
export function toCents(amount: string, currency: string): number {
	const text = amount.trim().replace(/^\+/, '')
	if (!decimal.test(text)) throw new FieldFailure('not_decimal', 'The amount is no decimal number with a point, such as 12.34.')
	const digits = digitsOf(currency)
	const [whole = '', fraction = ''] = text.split('.')
	if (/[1-9]/.test(fraction.slice(digits)))
		throw new FieldFailure('too_precise', `The amount has more than the ${digits} decimal places of ${currency}.`)
	const kept = fraction.slice(0, digits)
	const cents = Number(parseDecimal(kept === '' ? whole : `${whole}.${kept}`, digits))
	if (!Number.isSafeInteger(cents)) throw new FieldFailure('out_of_range', 'The amount is too large.')
	return cents === 0 ? 0 : cents
}

/** An amount of minor units as decimal text with all places of its currency. */
export const fromCents = (cents: number, currency: string): string => fixedDecimal(BigInt(cents), digitsOf(currency))

function digitsOf(currency: string): number {
	const digits = minorDigits(currency)
	if (digits === undefined) throw new FieldFailure('unknown_currency', 'The record has no ISO 4217 code where the currency is.')
	return digits
}
