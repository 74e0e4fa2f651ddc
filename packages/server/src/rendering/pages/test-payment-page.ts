// The page of the test payment processor, in place of a page that asks for a card. It must not look like a real one.
import { html } from 'ghtml'
import { page, postButton } from './page.ts'

export interface TestPayment {
	/** In its final words, such as `€1,606.50`. */
	readonly amount: string
	readonly seller: string
	/** The number of the invoice. */
	readonly number: string
	readonly payUrl: string
	readonly cancelUrl: string
}

/** The whole HTML document. */
export function testPaymentPage({ amount, seller, number, payUrl, cancelUrl }: TestPayment): string {
	return page({
		title: `Test payment for ${number}`,
		main: html`
<main class="narrow">
<div class="card message test">
<span class="badge test">Test mode</span>
<h1>Test payment – no money moves</h1>
<p>This stands in for a payment provider. Nothing is charged, and you are not asked for a card.</p>
<p class="amount"><bdi>${amount}</bdi></p>
<dl class="parties"><dt>To</dt><dd><bdi>${seller}</bdi></dd><dt>Invoice</dt><dd><bdi>${number}</bdi></dd></dl>
<div class="actions">!${postButton(payUrl, `Pay ${amount}`)}<a class="button" href="${cancelUrl}">Back to the invoice</a></div>
</div>
</main>`,
	})
}
