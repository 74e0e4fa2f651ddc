// The e-mail that brings an invoice: its subject and its two bodies. Pure.
import { type EmailSource, emailContent } from './email-content.ts'
import { emailHtml } from './email-html.ts'
import { emailText } from './email-text.ts'

export function invoiceEmail(source: EmailSource): { subject: string; text: string; html: string } {
	const content = emailContent(source)
	const { heading, sender } = content
	return {
		subject: sender ? `${heading} from ${sender}` : heading,
		text: emailText(content),
		html: emailHtml(content),
	}
}
