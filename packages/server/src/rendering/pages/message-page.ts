// A page with a single message, such as that a link does not work any more.
import { html } from 'ghtml'
import { page } from './page.ts'

export interface Message {
	readonly title: string
	readonly text: string
	/** Shown as a badge; absent when the title says enough. */
	readonly status?: { readonly tone: 'good' | 'bad'; readonly label: string }
}

/** Unknown, expired and revoked links get the same message, so that a guess reveals nothing. */
export const messages = {
	linkGone: {
		title: 'This link does not work any more',
		text: 'Please ask the sender of the invoice for a new one.',
	},
	paymentReceived: {
		title: 'Thank you for your payment',
		text: 'The invoice shows it as soon as it is confirmed, usually within a minute.',
		status: { tone: 'good', label: 'Payment received' },
	},
	paymentCancelled: {
		title: 'The payment was cancelled',
		text: 'Nothing was charged. The invoice is still open.',
	},
	paymentFailed: {
		title: 'The payment could not be started',
		text: 'Nothing was charged. Please try again in a few minutes.',
		status: { tone: 'bad', label: 'Payment failed' },
	},
	nothingToPay: {
		title: 'There is nothing to pay',
		text: 'The invoice is paid or was cancelled. Open its link again to see how it stands.',
	},
	wrongMethod: {
		title: 'This page cannot be opened like this',
		text: 'Please open the link of the invoice again.',
	},
	failed: {
		title: 'Something went wrong on our side',
		text: 'Nothing was changed. Please try again in a few minutes.',
	},
	outcomeUnknown: {
		title: 'Something went wrong on our side',
		text: 'We do not know whether it was done. Please open the link of the invoice again to see how it stands.',
	},
	tooManyRequests: {
		title: 'Too many requests',
		text: 'Please wait a minute, and then open the link again.',
	},
} satisfies Record<string, Message>

/** The whole HTML document, with a link back to the invoice when `invoiceUrl` is given. */
export function messagePage({ title, text, status }: Message, invoiceUrl?: string): string {
	return page({
		title,
		main: html`
<main class="narrow">
<div class="card message">
!${status ? html`<span class="badge ${status.tone}">${status.label}</span>` : ''}
<h1>${title}</h1>
<p>${text}</p>
!${invoiceUrl ? html`<div class="actions"><a class="button" href="${invoiceUrl}">Back to the invoice</a></div>` : ''}
</div>
</main>`,
	})
}
