import { expect, it } from 'vitest'
import { majorOf, minorOf } from './price.ts'

it('Prices are shifted by digits, below a cent too', () => {
	for (const [minor, currency, major] of [
		[1250, 'EUR', '12.50'],
		['12.5', 'EUR', '0.125'],
		[5, 'EUR', '0.05'],
		[-5, 'EUR', '-0.05'],
		[1500, 'JPY', '1500'],
		['1.5', 'JPY', '1.5'],
		[1234, 'KWD', '1.234'],
		[999_999_999_999, 'EUR', '9999999999.99'],
	] as const) {
		expect(majorOf(String(minor), currency)).toBe(major)
		expect(minorOf(major, currency)).toBe(minor)
	}
})
