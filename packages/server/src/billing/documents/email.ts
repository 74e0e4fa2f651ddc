// The e-mail of an invoice: its subject, its two bodies, and the logo that the HTML shows. A pure function.
import type { DocumentLogo } from '../../generated/contract.ts'
import { type EmailSource, emailContent, logoCid } from './email-content.ts'
import { emailHtml } from './email-html.ts'
import { emailText } from './email-text.ts'

export interface RenderedEmail {
	readonly subject: string
	readonly text: string
	readonly html: string
	readonly logo: { readonly cid: string; readonly image: DocumentLogo } | null
}

export function invoiceEmail(source: EmailSource): RenderedEmail {
	const content = emailContent(source)
	return {
		subject: content.subject,
		text: emailText(content),
		html: emailHtml(content),
		logo: content.logo && { cid: logoCid, image: content.logo },
	}
}
