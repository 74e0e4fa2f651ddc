// The interface of a payment processor, as the invoices use it. Amounts are ISO 4217 minor units, as everywhere; an adapter
// converts the amounts that its processor counts differently.
import type { IncomingHttpHeaders } from 'node:http'

/** A payment that the processor's page shall ask for. */
export interface PaymentRequest {
	readonly organizationId: string
	readonly invoiceId: string
	/** Asking again with the same id returns the same page. */
	readonly linkId: string
	readonly invoiceNumber: string
	/** Empty when the invoice names no seller. */
	readonly sellerName: string
	readonly amountCents: number
	readonly currency: string
	readonly customerEmail: string | null
	/** Where the payer's browser goes after paying. Its arrival proves nothing: only a webhook reports a payment. */
	readonly returnUrl: string
	readonly cancelUrl: string
}

/** The processor's page for a payment. */
export interface ProcessorLink {
	/** The processor's own id. */
	readonly externalId: string
	readonly url: string
	/** Unix milliseconds; null when the link does not expire by itself. */
	readonly expiresAt: number | null
}

/** A payment that arrived. */
export interface Payment {
	/** The same in every delivery of one event; processors deliver more than once. */
	readonly eventId: string
	readonly organizationId: string
	readonly invoiceId: string
	readonly linkId: string
	readonly externalId: string
	readonly amountCents: number
	readonly currency: string
	/** Such as `card`; the processor's name when it does not say. */
	readonly method: string
	/** The id of the payment in the processor's books. */
	readonly reference: string
	/** Unix milliseconds. */
	readonly paidAt: number
}

/** Accounts with a custom domain for Checkout are not supported. */
export const stripePages = ['https://checkout.stripe.com']

export interface PaymentProcessor {
	/** `stripe:organization` is an organization's own account at Stripe; the others are the server's. */
	readonly name: 'stripe' | 'stripe:organization' | 'test'
	/** The origins of the processor's pages: a page whose form leads there needs them in `form-action`. */
	readonly pages: readonly string[]
	create(request: PaymentRequest): Promise<ProcessorLink>
	/** Afterwards nobody can pay by the link. Succeeds for a link that is already paid, expired or unknown. */
	deactivate(externalId: string): Promise<void>
	/** The payment that a webhook reports; undefined when it reports something else. Throws InvalidWebhook. */
	readWebhook(body: Uint8Array, headers: IncomingHttpHeaders, now: number): Payment | undefined
}

/** The processor rejected a call or failed. The message is for the API's caller and holds no secret. */
export class ProcessorError extends Error {
	/** `amount_not_payable`: the processor never takes this amount or currency. Otherwise trying again may help. */
	readonly code: 'amount_not_payable' | 'payment_processor_failed'

	constructor(code: ProcessorError['code'], message: string, options?: ErrorOptions) {
		super(message, options)
		this.code = code
	}
}

/** A webhook that did not come from the processor, came too late, or cannot be read. */
export class InvalidWebhook extends Error {}
