// Opens the payment processor that the settings choose, and loads no other: Stripe's SDK alone adds a tenth of a second to the
// start.
import { ConfigError } from '../../base/errors.ts'
import type { PaymentProcessor } from './processor.ts'

export interface PaymentSettings {
	readonly PAYMENT_PROCESSOR: 'stripe' | 'test' | 'none'
	readonly STRIPE_SECRET_KEY: string
	readonly STRIPE_WEBHOOK_SECRET: string
	/** The URL of another server than Stripe's; empty for Stripe's. */
	readonly STRIPE_API_BASE: string
	/** The proxy to Stripe; empty: none. */
	readonly HTTPS_PROXY: string
	/** Hosts that are called without it. */
	readonly NO_PROXY: string
	readonly NODE_ENV: string
	/** The URL of this server as browsers see it. A function, because the port may be unknown until the server listens. */
	readonly baseUrl: () => string
	/** Signs the webhooks of the test processor. */
	readonly testSecret: string
}

/** The limit of one attempt. There are at most two, and the caller who asked for a link waits for both. */
const stripeTimeoutMs = 10_000

/** Undefined when the server takes no payments. */
export async function openPaymentProcessor(settings: PaymentSettings): Promise<PaymentProcessor | undefined> {
	switch (settings.PAYMENT_PROCESSOR) {
		case 'none':
			return undefined
		case 'stripe':
			return openStripe(settings)
		case 'test':
			return openTest(settings)
	}
}

async function openStripe(settings: PaymentSettings): Promise<PaymentProcessor> {
	const missing = (['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const).filter((name) => settings[name].trim() === '')
	if (missing.length > 0) throw new ConfigError(`PAYMENT_PROCESSOR=stripe: needs ${missing.join(' and ')}`)
	const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = settings
	return openAccount('stripe', { secretKey, webhookSecret }, settings)
}

/** The secrets of an account at Stripe. */
export interface StripeSecrets {
	readonly secretKey: string
	readonly webhookSecret: string
}

/** A client for the account of the server or of an organization. */
export async function openAccount(
	name: 'stripe' | 'stripe:organization',
	secrets: StripeSecrets,
	{ STRIPE_API_BASE: apiBase, HTTPS_PROXY, NO_PROXY }: Pick<PaymentSettings, 'STRIPE_API_BASE' | 'HTTPS_PROXY' | 'NO_PROXY'>,
): Promise<PaymentProcessor> {
	const { stripeProcessor } = await import('./stripe.ts')
	return stripeProcessor({ name, ...secrets, apiBase, proxy: { HTTPS_PROXY, NO_PROXY }, timeoutMs: stripeTimeoutMs })
}

async function openTest(settings: PaymentSettings): Promise<PaymentProcessor> {
	if (settings.NODE_ENV === 'production') {
		throw new ConfigError(
			'PAYMENT_PROCESSOR=test: refused in production, where anyone could mark an invoice as paid; set NODE_ENV to development or test',
		)
	}
	const { testProcessor } = await import('./test-processor.ts')
	return testProcessor(settings.baseUrl, settings.testSecret)
}
