// What a way of delivering mail (smtp.ts, file.ts) does, and how it fails.
import type { SendMailOptions } from 'nodemailer'

export interface Delivery {
	/** Delivers to the recipients, the first of whom is `to`. Throws a MailError unless `to` was accepted. */
	deliver(message: SendMailOptions, recipients: readonly string[]): Promise<readonly RecipientAnswer[]>
	close(): void
}

/** What the mail server answered for one recipient; `answer` is null when it took the mail. */
export interface RecipientAnswer {
	readonly address: string
	readonly accepted: boolean
	readonly answer: string | null
}

interface Failure {
	/** Whether the mail was perhaps sent: the mail server had all of it, and its answer was lost. */
	readonly uncertain?: boolean
	/** The answers for single recipients. The mail server may have taken the mail for copies although it refused `to`. */
	readonly recipients?: readonly RecipientAnswer[]
	readonly cause?: unknown
}

/** The message is a sentence for the API's caller; the cause is for the log. */
export class MailError extends Error {
	readonly uncertain: boolean
	readonly recipients: readonly RecipientAnswer[]

	constructor(message: string, { uncertain = false, recipients = [], cause }: Failure = {}) {
		super(message, { cause })
		this.uncertain = uncertain
		this.recipients = recipients
	}
}
