// Webhooks are signed in Stripe's scheme, `t=<seconds>,v1=<HMAC-SHA256 of t.body>`, by Stripe and by the test processor alike:
// https://docs.stripe.com/webhooks/signature
import Stripe from 'stripe'
import { InvalidWebhook } from './processor.ts'

/** An older signature may be a replay. */
const toleranceSeconds = 300

/** Checks a webhook's signature and returns the event in its body. */
export function readSigned(body: Uint8Array, signature: string | string[] | undefined, secret: string, now: number): unknown {
	try {
		return Stripe.webhooks.constructEvent(body, signature ?? '', secret, toleranceSeconds, undefined, now)
	} catch (cause) {
		const unsigned = cause instanceof Stripe.errors.StripeSignatureVerificationError
		const reason = unsigned ? 'is not signed with the right secret within the last 5 minutes' : 'is not an event in JSON'
		throw new InvalidWebhook(`The webhook ${reason}.`, { cause })
	}
}

/** The signature that `readSigned` expects. */
export function sign(payload: string, secret: string, now: number): string {
	return Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: now / 1000 })
}
