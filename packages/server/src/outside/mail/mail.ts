// Sends one mail to one recipient, through a mail server (smtp.ts) or into a folder (file.ts). Data cannot become a header or a
// second recipient: an address must be one plain address, and names and subjects lose their control characters.
import type { SendMailOptions } from 'nodemailer'
import { ConfigError } from '../../base/errors.ts'

export interface Mail {
	readonly to: string
	/** The address for answers; null: the sending address. */
	readonly replyTo: string | null
	/** Shown before the sending address, which is MAIL_FROM for every sender. */
	readonly senderName: string
	readonly subject: string
	readonly text: string
	readonly html: string
	readonly attachments: readonly Attachment[]
}

export interface Attachment {
	readonly filename: string
	readonly contentType: string
	readonly content: Uint8Array
}

export interface Mailer {
	readonly transport: 'smtp' | 'file' | 'none'
	readonly configured: boolean
	/** The sending address. */
	readonly from: string | null
	/** The settings that are missing for sending mail. */
	readonly missing: readonly (keyof MailSettings)[]
	/** Returns once the mail server or folder has accepted the mail; throws a MailError otherwise. */
	send(mail: Mail): Promise<void>
	/** Aborts the mails under way. */
	close(): void
}

/** The message is a sentence for the API's caller; the cause is for the log. */
export class MailError extends Error {}

export interface MailSettings {
	/**
	 * `smtp://user:password@host:port`: encrypted when the server offers it (STARTTLS), always with `?requireTLS=true`.
	 * `smtps://…`: encrypted from the start. A self-signed certificate needs `?tls.rejectUnauthorized=false`.
	 * `file:<folder>`: each mail becomes a file there. Empty: no mail.
	 */
	readonly SMTP_URL: string
	readonly MAIL_FROM: string
}

interface Delivery {
	deliver(message: SendMailOptions): Promise<void>
	/** The reason of a failed `deliver`, as a sentence. */
	reason(error: unknown): string
	close(): void
}

/** How long a mail may take, from the look-up of the server's name to the server's last answer. */
const defaultTimeoutMs = 20_000

export function openMailer({ SMTP_URL, MAIL_FROM }: MailSettings, { timeoutMs = defaultTimeoutMs } = {}): Mailer {
	const transport = transportOf(SMTP_URL)
	const from = MAIL_FROM || (transport === 'file' ? 'invoices@localhost' : null)
	if (from !== null && !isAddress(from)) throw new ConfigError('MAIL_FROM: must be one address, such as invoices@example.com')
	let opening: Promise<Delivery> | undefined
	const missing: (keyof MailSettings)[] = []
	if (transport === 'none') missing.push('SMTP_URL')
	if (from === null) missing.push('MAIL_FROM')
	return {
		transport,
		configured: missing.length === 0,
		from,
		missing,
		async send(mail) {
			if (transport === 'none' || from === null)
				throw new MailError(`E-mail is not set up: the server needs ${missing.join(' and ')}.`)
			const message = compose(mail, from)
			opening ??= openDelivery(transport, SMTP_URL, timeoutMs)
			const delivery = await opening
			try {
				await delivery.deliver(message)
			} catch (cause) {
				throw new MailError(delivery.reason(cause), { cause })
			}
		},
		close: () => opening?.then((delivery) => delivery.close()),
	}
}

function transportOf(url: string): Mailer['transport'] {
	if (url === '') return 'none'
	if (/^file:./i.test(url)) return 'file'
	if (/^smtps?:\/\/./i.test(url) && URL.canParse(url)) return 'smtp'
	throw new ConfigError('SMTP_URL: must be smtp://host:port, smtps://host:port or file:<folder>')
}

/** Loads nodemailer with the first mail: it is a tenth of the server's start, and many processes send no mail. */
async function openDelivery(transport: 'smtp' | 'file', url: string, timeoutMs: number): Promise<Delivery> {
	if (transport === 'smtp') return (await import('./smtp.ts')).smtpDelivery(url, timeoutMs)
	return (await import('./file.ts')).folderDelivery(url)
}

/**
 * A person asked for each mail, so it carries neither `List-Unsubscribe` nor `Auto-Submitted`: the help desks behind many
 * accounts-payable addresses set mail with the latter aside as automatic.
 */
function compose({ to, replyTo, senderName, subject, text, html, attachments }: Mail, from: string): SendMailOptions {
	if (!isAddress(to)) throw new MailError('The recipient must be one e-mail address, such as name@example.com.')
	if (replyTo !== null && !isAddress(replyTo)) throw new MailError('The address for answers must be one e-mail address.')
	return {
		from: { name: oneLine(senderName), address: from },
		to: { name: '', address: to },
		...(replyTo !== null && { replyTo: { name: '', address: replyTo } }),
		subject: oneLine(subject),
		text,
		html,
		attachments: attachments.map(({ filename, contentType, content }) => ({
			filename: oneLine(filename),
			contentType,
			content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
		})),
		disableFileAccess: true,
		disableUrlAccess: true,
	}
}

/** RFC 5321, 4.5.3.1.3 leaves 254 characters. Rejects what RFC 5322 would quote, and what could begin a second address. */
const isAddress = (text: string) => text.length <= 254 && /^[^\s\p{C}@,;:<>()[\]\\"]+@[^\s\p{C}@,;:<>()[\]\\"]+$/u.test(text)

const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
