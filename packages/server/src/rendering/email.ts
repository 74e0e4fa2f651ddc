// The e-mail of an invoice: its subject and its two bodies. A pure function.
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
