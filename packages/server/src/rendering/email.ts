// The e-mail of an invoice: its subject and its two bodies. A pure function.
import { type EmailSource, emailContent } from './email-content.ts'
import { emailHtml } from './email-html.ts'
import { emailText } from './email-text.ts'

export function invoiceEmail(source: EmailSource): { subject: string; text: string; html: string } {
	const content = emailContent(source)
	return {
		subject: content.subject,
		text: emailText(content),
		html: emailHtml(content),
	}
}
