// Payments by Stripe Checkout, with one Session for each link. The Session's metadata says which link a payment belongs to.
import { Agent } from 'node:https'
import Stripe from 'stripe'
import { isException } from '../../base/network.ts'
import {
	InvalidWebhook,
	type Payment,
	type PaymentProcessor,
	type PaymentRequest,
	ProcessorError,
	stripePages,
} from './processor.ts'
import { fromStripeAmount, toStripeAmount } from './stripe-amounts.ts'
import { toProcessorError } from './stripe-errors.ts'
import { readSigned } from './webhook-signature.ts'

interface ProxySettings {
	readonly HTTPS_PROXY: string
	readonly NO_PROXY: string
}

export interface StripeSettings {
	readonly name: 'stripe' | 'stripe:organization'
	readonly secretKey: string
	readonly webhookSecret: string
	/** The URL of another server than Stripe's; empty for Stripe's. */
	readonly apiBase: string
	/** As the environment names them; not for an `apiBase` without TLS. */
	readonly proxy?: ProxySettings
	/** How long an attempt waits for an answer. */
	readonly timeoutMs: number
}

export function stripeProcessor({ name, secretKey, webhookSecret, apiBase, proxy, timeoutMs }: StripeSettings): PaymentProcessor {
	// The API's version is the one that the SDK's types describe.
	const client = new Stripe(secretKey, {
		...address(apiBase),
		...(proxy &&
			isProxied(apiBase, proxy) && { httpAgent: new Agent({ keepAlive: true, proxyEnv: { HTTPS_PROXY: proxy.HTTPS_PROXY } }) }),
		timeout: timeoutMs,
		maxNetworkRetries: 1,
		telemetry: false,
	})
	const { sessions } = client.checkout
	return {
		name,
		pages: stripePages,
		async create(request) {
			const params = sessionParams(request)
			const session = await sessions.create(params, { idempotencyKey: request.linkId }).catch(toProcessorError)
			if (!session.url) throw new ProcessorError('payment_processor_failed', 'Stripe has no page for this payment any more.')
			return { externalId: session.id, url: session.url, expiresAt: session.expires_at * 1000 }
		},
		async deactivate(externalId) {
			await sessions.expire(externalId).catch((error) => ignoreEnded(sessions, externalId, error).catch(toProcessorError))
		},
		readWebhook(body, headers, now) {
			const event = readSigned(body, headers['stripe-signature'], webhookSecret, now) as Stripe.Event | null
			if (event?.object !== 'event') throw new InvalidWebhook('The webhook is not an event.')
			return paymentOf(event)
		},
	}
}

function isProxied(apiBase: string, { HTTPS_PROXY, NO_PROXY }: ProxySettings): boolean {
	const { protocol, hostname, port } = new URL(apiBase || 'https://api.stripe.com')
	return HTTPS_PROXY !== '' && protocol === 'https:' && !isException(NO_PROXY, hostname, Number(port || 443))
}

function address(apiBase: string): Stripe.StripeConfig {
	if (apiBase === '') return {}
	const { protocol, hostname, port } = new URL(apiBase)
	return protocol === 'http:'
		? { protocol: 'http', host: hostname, port: port || 80 }
		: { protocol: 'https', host: hostname, port: port || 443 }
}

/**
 * Always the same for a link: Stripe repeats an answer only for equal parameters. So they lack `expires_at`: a Session expires
 * 24 hours after its creation, which is also the longest that Stripe allows.
 */
function sessionParams(request: PaymentRequest): Stripe.Checkout.SessionCreateParams {
	const { organizationId, invoiceId, linkId, sellerName, amountCents, currency } = request
	const unit_amount = toStripeAmount(amountCents, currency)
	if (unit_amount === undefined) {
		const amount = `${amountCents} minor units of ${currency}`
		throw new ProcessorError('amount_not_payable', `Stripe cannot take ${amount}: it wants fewer decimals.`)
	}
	const metadata = { organizationId, invoiceId, linkId }
	const name = `Invoice ${request.invoiceNumber}`
	const product_data = { name, description: sellerName || undefined }
	return {
		mode: 'payment',
		line_items: [{ quantity: 1, price_data: { currency: currency.toLowerCase(), unit_amount, product_data } }],
		client_reference_id: linkId,
		customer_email: request.customerEmail ?? undefined,
		metadata,
		payment_intent_data: { description: name, metadata },
		success_url: request.returnUrl,
		cancel_url: request.cancelUrl,
	}
}

/**
 * Stripe rejects the expiry of a Session that is paid, expired or unknown, but gives a code only for the last. So this asks
 * whether the Session can still be paid.
 */
async function ignoreEnded(sessions: Stripe['checkout']['sessions'], externalId: string, rejected: unknown): Promise<void> {
	if (!(rejected instanceof Stripe.errors.StripeInvalidRequestError)) throw rejected
	if (rejected.code === 'resource_missing') return
	const { status } = await sessions.retrieve(externalId)
	if (status === 'open') throw rejected
}

/** A card payment is done when the Session completes, a bank debit or transfer days later. */
function paymentOf(event: Stripe.Event): Payment | undefined {
	if (event.type !== 'checkout.session.completed' && event.type !== 'checkout.session.async_payment_succeeded') return undefined
	const session = event.data.object
	const { organizationId, invoiceId, linkId } = session.metadata ?? {}
	// The account may have Sessions that are not ours: they lack this metadata.
	if (session.payment_status !== 'paid' || !organizationId || !invoiceId || !linkId) return undefined
	const currency = session.currency?.toUpperCase() ?? ''
	const amountCents = fromStripeAmount(session.amount_total ?? 0, currency)
	if (amountCents === undefined) throw new InvalidWebhook(`The webhook's amount ${session.amount_total} is none in ${currency}.`)
	const intent = session.payment_intent
	const [method, ...others] = session.payment_method_types
	return {
		eventId: event.id,
		organizationId,
		invoiceId,
		linkId,
		externalId: session.id,
		amountCents,
		currency,
		// The event names the methods that the page offered, not the one that the payer chose.
		method: method && others.length === 0 ? method : 'stripe',
		reference: (typeof intent === 'string' ? intent : intent?.id) ?? session.id,
		paidAt: event.created * 1000,
	}
}
