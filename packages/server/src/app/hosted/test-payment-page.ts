// The page of the test payment processor, in place of a page that asks for a card. It must not look like a real one.
import { html } from 'ghtml'
import type { Language } from '../../generated/contract.ts'
import { page, postButton } from '../../platform/rendering/pages/page.ts'
import { fill, wordsOf } from '../../platform/rendering/words/languages.ts'

export interface TestPayment {
	readonly language: Language
	/** In its final words, such as `€1,606.50`. */
	readonly amount: string
	readonly seller: string
	/** The number of the invoice. */
	readonly number: string
	readonly payUrl: string
	readonly cancelUrl: string
}

/** The whole HTML document. */
export function testPaymentPage({ language, amount, seller, number, payUrl, cancelUrl }: TestPayment): string {
	const words = wordsOf(language)
	const { title, badge, heading, text } = words.testPayment
	return page({
		language,
		title: fill(title, { number }),
		main: html`
<main class="narrow">
<div class="card message test">
<span class="badge test">${badge}</span>
<h1>${heading}</h1>
<p>${text}</p>
<p class="amount"><bdi>${amount}</bdi></p>
<dl class="parties"><dt>${words.paidTo}</dt><dd><bdi>${seller}</bdi></dd><dt>${words.invoice}</dt><dd><bdi>${number}</bdi></dd></dl>
<div class="actions">!${postButton(payUrl, fill(words.page.pay, { amount }))}<a class="button" href="${cancelUrl}">${words.page.back}</a></div>
</div>
</main>`,
	})
}
