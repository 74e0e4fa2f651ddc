// Stripe counts some currencies in other units than ISO 4217: https://docs.stripe.com/currencies#minor-units
// A currency that Stripe does not take, it refuses itself.
import currencies from 'currency-codes'

/** Stripe's table. ISK and UGX are not in it: they have no decimals, but Stripe wants them with two that are zero. */
const zeroDecimals = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
const threeDecimals = new Set('BHD JOD KWD OMR TND'.split(' '))

function stripeDecimals(currency: string): number {
	if (zeroDecimals.has(currency)) return 0
	return threeDecimals.has(currency) ? 3 : 2
}

/** The multiple by which ISO 4217's minor unit and Stripe's differ; one of the two is 1. */
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
	// Card networks have no third decimal: Stripe wants it to be zero.
	return threeDecimals.has(currency) && amount % 10 !== 0 ? undefined : amount
}

/** ISO 4217's minor units; undefined when Stripe's amount is no whole number of them. */
export function fromStripeAmount(amount: number, currency: string): number | undefined {
	const unit = units(currency)
	return unit && amount % unit.stripe === 0 ? (amount / unit.stripe) * unit.iso : undefined
}
