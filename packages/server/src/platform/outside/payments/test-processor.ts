// A processor without an account, for development and tests. Its page is a page of this server, which reports a payment by a
// webhook like any other. It stores nothing: the external id of a link follows from the link's id.
import type { Payment, PaymentProcessor } from './processor.ts'
import { InvalidWebhook } from './processor.ts'
import { readSigned, sign } from './webhook-signature.ts'

const signatureHeader = 'remit-test-signature'

/** The link's page is at `/pay/test/<externalId>`. */
export function testProcessor(baseUrl: () => string, secret: string): PaymentProcessor {
	return {
		name: 'test',
		get pages() {
			return [new URL(baseUrl()).origin]
		},
		async create({ linkId }) {
			const externalId = externalIdOf(linkId)
			return { externalId, url: `${baseUrl()}/pay/test/${externalId}`, expiresAt: null }
		},
		// Nothing to do: the page shows only links that Remit has not closed.
		async deactivate() {},
		readWebhook(body, headers, now) {
			const event = readSigned(body, headers[signatureHeader], secret, now) as Partial<TestEvent> | null
			if (event?.object !== 'event') throw new InvalidWebhook('The webhook is not an event.')
			return event.payment
		},
	}
}

interface TestEvent {
	readonly object: 'event'
	readonly payment: Payment
}

const externalIdOf = (linkId: string) => `test_${linkId}`

/** What the page knows of a payment. The rest follows from the link, so paying twice sends the same event twice. */
export type TestPayment = Omit<Payment, 'eventId' | 'externalId' | 'method' | 'reference'>

/** The webhook that reports a payment on the test page. */
export function signPayment(paid: TestPayment, secret: string): { body: Uint8Array; headers: Record<string, string> } {
	const externalId = externalIdOf(paid.linkId)
	const payment: Payment = { ...paid, eventId: `${externalId}_paid`, externalId, method: 'test', reference: externalId }
	const body = JSON.stringify({ object: 'event', payment } satisfies TestEvent)
	return {
		body: Buffer.from(body),
		headers: { 'content-type': 'application/json', [signatureHeader]: sign(body, secret, paid.paidAt) },
	}
}
