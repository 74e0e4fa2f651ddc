// One mail to one recipient, through a mail server (mail-smtp.ts) or into a folder (mail-file.ts). What comes from data
// cannot become a header or a second recipient: addresses are refused unless they are one plain address, and names and
// subjects lose their control characters.
import type { SendMailOptions } from 'nodemailer'
import { ConfigError } from '../../base/errors.ts'

export interface Mail {
	readonly to: string
	/** Where an answer goes; null: to the address it is sent from. */
	readonly replyTo: string | null
	/** Stands before the address it is sent from, which is ours whoever the sender is. */
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
	/** The address that mail is sent from. */
	readonly from: string | null
	/** The settings without which no mail can be sent. */
	readonly missing: readonly (keyof MailSettings)[]
	/** Returns once the mail was accepted for the recipient; throws a MailError otherwise. */
	send(mail: Mail): Promise<void>
	/** Ends what is under way. */
	close(): void
}

/** Its message is a sentence for whoever asked for the mail; the cause is for the log. */
export class MailError extends Error {}

export interface MailSettings {
	/**
	 * `smtp://user:password@host:port`: encrypted when the server offers it (STARTTLS), always with `?requireTLS=true`.
	 * `smtps://…`: encrypted from the start. A certificate of one's own needs `?tls.rejectUnauthorized=false`.
	 * `file:<folder>`: each mail becomes a file there. Empty: no mail.
	 */
	readonly SMTP_URL: string
	readonly MAIL_FROM: string
}

interface Delivery {
	deliver(message: SendMailOptions): Promise<void>
	/** What went wrong, as a sentence. */
	reason(error: unknown): string
	close(): void
}

/** How long a mail may take from the look-up of the server's name to its last answer. */
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

/** Loaded with the first mail: nodemailer is a tenth of the start, and many processes send none. */
async function openDelivery(transport: 'smtp' | 'file', url: string, timeoutMs: number): Promise<Delivery> {
	if (transport === 'smtp') return (await import('./smtp.ts')).smtpDelivery(url, timeoutMs)
	return (await import('./file.ts')).folderDelivery(url)
}

/**
 * Someone asked for this very mail, so it carries neither `List-Unsubscribe` nor `Auto-Submitted`: with the latter, the
 * help desks behind many accounts-payable addresses put a mail aside as automatic.
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

/** RFC 5321, 4.5.3.1.3 leaves 254 characters; what needs quotes in RFC 5322 is refused with what could begin a second one. */
const isAddress = (text: string) => text.length <= 254 && /^[^\s\p{C}@,;:<>()[\]\\"]+@[^\s\p{C}@,;:<>()[\]\\"]+$/u.test(text)

const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
