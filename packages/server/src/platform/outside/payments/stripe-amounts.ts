// Stripe counts some currencies in other units than ISO 4217: https://docs.stripe.com/currencies#minor-units
// Stripe itself rejects a currency that it does not take.
import currencies from 'currency-codes'

/** Stripe's table. It lacks ISK and UGX: they have no decimals, but Stripe counts them with two, which must be zero. */
const zeroDecimals = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
const threeDecimals = new Set('BHD JOD KWD OMR TND'.split(' '))

function stripeDecimals(currency: string): number {
	if (zeroDecimals.has(currency)) return 0
	return threeDecimals.has(currency) ? 3 : 2
}

/** The factor between ISO 4217's minor unit and Stripe's; one of the two numbers is 1. */
function units(currency: string): { iso: number; stripe: number } | undefined {
	const isoDecimals = currencies.code(currency)?.digits
	if (isoDecimals === undefined) return undefined
	const shift = stripeDecimals(currency) - isoDecimals
	return { iso: 10 ** Math.max(-shift, 0), stripe: 10 ** Math.max(shift, 0) }
}

/** Stripe's amount; undefined when the amount has a fraction that Stripe does not take. */
export function toStripeAmount(amountCents: number, currency: string): number | undefined {
	const unit = units(currency)
	if (!unit || amountCents % unit.iso !== 0) return undefined
	const amount = (amountCents / unit.iso) * unit.stripe
	// Card networks have no third decimal, so Stripe requires it to be zero.
	return threeDecimals.has(currency) && amount % 10 !== 0 ? undefined : amount
}

/** The amount in ISO 4217's minor units; undefined when Stripe's amount is not a whole number of them. */
export function fromStripeAmount(amount: number, currency: string): number | undefined {
	const unit = units(currency)
	return unit && amount % unit.stripe === 0 ? (amount / unit.stripe) * unit.iso : undefined
}
