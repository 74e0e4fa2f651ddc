import currencies from 'currency-codes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromStripeAmount, toStripeAmount } from './stripe-amounts.ts'

const anyCurrency = fc.constantFrom(...currencies.codes())
const anyAmount = fc.oneof(
	fc.integer({ min: 1, max: 999_999_999_999 }),
	fc.nat(9_999_999).map((amount) => amount * 1000),
)

// Examples of https://docs.stripe.com/currencies, each with the amount in ISO 4217 minor units.
it.each([
	['EUR', 1050, 1050],
	['USD', 1000, 1000],
	['HUF', 1045, 1045],
	['TWD', 80_045, 80_045],
	['JPY', 500, 500],
	['KRW', 500, 500],
	['ISK', 5, 500],
	['UGX', 5, 500],
	['MGA', 50_000, 500],
	['KWD', 5120, 5120],
	['TND', 5130, 5130],
])('%s %d is %d at Stripe', (currency, amountCents, amount) => {
	expect(toStripeAmount(amountCents, currency)).toBe(amount)
	expect(fromStripeAmount(amount, currency)).toBe(amountCents)
})

describe('an amount finer than Stripe takes is undefined', () => {
	it.each([
		['KWD', 5124],
		['JOD', 1],
		['MGA', 20],
		['XXX?', 100],
	])('%s %d', (currency, amountCents) => {
		expect(toStripeAmount(amountCents, currency)).toBeUndefined()
	})

	it.each([
		['ISK', 550],
		['UGX', 1],
	])('and so is one of Stripe’s that we cannot count: %s %d', (currency, amount) => {
		expect(fromStripeAmount(amount, currency)).toBeUndefined()
	})
})

it('there and back is the same amount in every currency', () => {
	fc.assert(
		fc.property(anyCurrency, anyAmount, (currency, amountCents) => {
			const amount = toStripeAmount(amountCents, currency)
			fc.pre(amount !== undefined)
			expect(Number.isSafeInteger(amount)).toBe(true)
			expect(fromStripeAmount(amount as number, currency)).toBe(amountCents)
		}),
		{ numRuns: 5000 },
	)
})

it('a whole unit of every currency of two decimals or fewer can be paid', () => {
	for (const { code, digits } of currencies.data) {
		if (digits <= 2) expect(toStripeAmount(10 ** digits, code)).toBeGreaterThan(0)
	}
})
