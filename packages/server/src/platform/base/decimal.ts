// Exact decimals as scaled integers: "9.975" with 4 places is 99750n. Money never passes through a float, because
// 8180.00 × 9.975 % is an exact tie that binary fractions put on the wrong side.

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/** Throws RangeError for anything but plain decimal text: the contract has validated requests, so it is a bug in our code. */
export function parseDecimal(text: string, places: number): bigint {
	const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? []
	if (whole === undefined || fraction.length > places) {
		throw new RangeError(`not a decimal with at most ${places} places: ${JSON.stringify(text)}`)
	}
	const scaled = BigInt(whole + fraction.padEnd(places, '0'))
	return sign === '-' ? -scaled : scaled
}

/** The canonical text of a value, so that "19", "19.0" and "019" are the same rate. */
export const formatDecimal = (scaled: bigint, places: number): string => {
	const text = fixedDecimal(scaled, places)
	return places === 0 ? text : text.replace(/\.?0+$/, '')
}

/** A value with all its places. */
export function fixedDecimal(scaled: bigint, places: number): string {
	const digits = String(magnitude(scaled)).padStart(places + 1, '0')
	const whole = digits.slice(0, digits.length - places)
	const fraction = digits.slice(digits.length - places)
	return `${scaled < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`
}

/** Rounds half away from zero. */
export function roundedDivide(numerator: bigint, denominator: bigint): bigint {
	const [n, d] = [magnitude(numerator), magnitude(denominator)]
	const quotient = (2n * n + d) / (2n * d)
	return numerator < 0n === denominator < 0n ? quotient : -quotient
}

/** A number or decimal text in its canonical form. */
export const spellDecimal = (value: string | number, places: number) => formatDecimal(parseDecimal(String(value), places), places)

/**
 * Splits `total` by the largest-remainder method: each part is rounded down or up, and earlier parts win ties. Rounding in the
 * direction of the sum (of the first part that is not zero, when they cancel out) makes a negated invoice the exact mirror.
 */
export function spread(total: bigint, numerators: bigint[], divisor: bigint): bigint[] {
	const direction = (sum(numerators) || (numerators.find((n) => n !== 0n) ?? 0n)) < 0n ? -1n : 1n
	const parts = numerators.map((n) => {
		const remainder = (((direction * n) % divisor) + divisor) % divisor
		return { cents: (direction * n - remainder) / divisor, remainder }
	})
	const left = direction * total - sum(parts.map((part) => part.cents))
	const largestFirst = parts.toSorted((a, b) => (a.remainder === b.remainder ? 0 : a.remainder > b.remainder ? -1 : 1))
	for (const part of largestFirst.slice(0, Number(left))) part.cents += 1n
	return parts.map((part) => direction * part.cents)
}

export const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)
export const sum = (values: bigint[]): bigint => values.reduce((total, value) => total + value, 0n)
