// Turns Stripe's errors into errors for the API's caller. Only errors about the request keep Stripe's own words; other errors
// may be about this server's key.
import Stripe from 'stripe'
import { ProcessorError } from './processor.ts'

const { errors } = Stripe

/** Throws a ProcessorError for an error from Stripe, and any other error unchanged. */
export function toProcessorError(error: unknown): never {
	if (!(error instanceof errors.StripeError)) throw error
	throw new ProcessorError(isAboutAmount(error) ? 'amount_not_payable' : 'payment_processor_failed', sentence(error), {
		cause: error,
	})
}

function isAboutAmount({ code, param }: Stripe.errors.StripeError): boolean {
	return code === 'amount_too_small' || code === 'amount_too_large' || /\[(currency|unit_amount)\]$/.test(param ?? '')
}

function sentence(error: Stripe.errors.StripeError): string {
	if (error instanceof errors.StripeInvalidRequestError || error instanceof errors.StripeCardError) {
		return `Stripe refused: ${error.message}`
	}
	if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError) {
		return 'Stripe does not accept the secret key.'
	}
	if (error instanceof errors.StripeRateLimitError) return 'Stripe takes no more requests for now; try again in a minute.'
	if (error instanceof errors.StripeConnectionError) return 'Stripe cannot be reached; try again in a minute.'
	return 'Stripe failed to answer; try again in a minute.'
}
