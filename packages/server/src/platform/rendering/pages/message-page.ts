// A page with a single message, such as that a link does not work any more.
import { html } from 'ghtml'
import type { DocumentFact, Language } from '../../../generated/contract.ts'
import { wordsOf } from '../words/languages.ts'
import type { MessageName } from '../words/words.ts'
import { page } from './page.ts'

const tones: Partial<Record<MessageName, 'good' | 'bad'>> = { paymentFailed: 'bad' }

export interface Receipt {
	readonly facts: readonly DocumentFact[]
	/** `#rrggbb`; null: Remit's. */
	readonly accent: string | null
}

export interface MessageDetails {
	/** The way back to the invoice. */
	readonly invoiceUrl?: string
	readonly receipt?: Receipt & { readonly pdfUrl: string }
}

/** The whole HTML document. */
export function messagePage(language: Language, name: MessageName, { invoiceUrl, receipt }: MessageDetails = {}): string {
	const words = wordsOf(language)
	const { title, text, badge } = words.messages[name]
	const actions = [
		...(receipt ? [html`<a class="button primary" href="${receipt.pdfUrl}">${words.page.downloadReceipt}</a>`] : []),
		...(invoiceUrl ? [html`<a class="button" href="${invoiceUrl}">${words.page.back}</a>`] : []),
	]
	return page({
		language,
		title,
		accent: receipt?.accent ?? null,
		main: html`
<main class="narrow">
<div class="card message">
!${badge ? html`<span class="badge ${tones[name] ?? 'good'}">${badge}</span>` : ''}
<h1>${title}</h1>
<p>${text}</p>
!${receipt ? html`<dl class="parties">!${receipt.facts.map(({ label, value }) => html`<dt>${label}</dt><dd><bdi>${value}</bdi></dd>`)}</dl>` : ''}
!${actions.length > 0 ? html`<div class="actions">!${actions}</div>` : ''}
</div>
</main>`,
	})
}
