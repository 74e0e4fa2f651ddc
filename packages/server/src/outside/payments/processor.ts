// Being paid through a payment processor: what the invoices need of one, whichever it is. Amounts are ISO 4217 minor units,
// as everywhere; an adapter in payments/ converts what its processor counts differently.
import type { IncomingHttpHeaders } from 'node:http'

/** What is to be paid on the processor's page. */
export interface PaymentRequest {
	readonly organizationId: string
	readonly invoiceId: string
	/** Asking again for the same link gives the page that it already has. */
	readonly linkId: string
	readonly invoiceNumber: string
	/** Empty when the invoice names no seller. */
	readonly sellerName: string
	readonly amountCents: number
	readonly currency: string
	readonly customerEmail: string | null
	/** Where the payer's browser goes after paying. That it arrives there proves nothing: only a webhook reports a payment. */
	readonly returnUrl: string
	readonly cancelUrl: string
}

/** The page where it can be paid. */
export interface ProcessorLink {
	/** The processor's own id. */
	readonly externalId: string
	readonly url: string
	/** Unix milliseconds; null when it does not expire by itself. */
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
	/** What finds the payment in the processor's books. */
	readonly reference: string
	/** Unix milliseconds. */
	readonly paidAt: number
}

export interface PaymentProcessor {
	readonly name: 'stripe' | 'test'
	/** The origins its pages live on: a form that leads there needs them in its page's `form-action`. */
	readonly pages: readonly string[]
	create(request: PaymentRequest): Promise<ProcessorLink>
	/** Afterwards nobody can pay by the link. Nothing to do for one that is paid, expired or unknown. */
	deactivate(externalId: string): Promise<void>
	/** The payment that a webhook reports; undefined when it reports something else. Throws InvalidWebhook. */
	readWebhook(body: Uint8Array, headers: IncomingHttpHeaders, now: number): Payment | undefined
}

/** The processor did not do what was asked. The message is for the API's caller and holds no secret. */
export class ProcessorError extends Error {
	/** `amount_not_payable`: it never takes this amount or currency. Else trying again may help. */
	readonly code: 'amount_not_payable' | 'payment_processor_failed'

	constructor(code: ProcessorError['code'], message: string, options?: ErrorOptions) {
		super(message, options)
		this.code = code
	}
}

/** A webhook that did not come from the processor, came too late, or is none. */
export class InvalidWebhook extends Error {}
