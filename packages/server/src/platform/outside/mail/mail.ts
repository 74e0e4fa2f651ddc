// Sends one mail to its recipients, through a mail server (smtp.ts) or into a folder (file.ts). Data cannot become a header or
// another recipient: an address must be one plain address, and names and subjects lose their control characters.
import type { SendMailOptions } from 'nodemailer'
import { ConfigError } from '../../base/errors.ts'
import { distinct, isAddress, wireAddress } from './addresses.ts'
import { type Delivery, MailError, type RecipientAnswer } from './delivery.ts'

export interface Mail extends MailContent {
	/** As `Mailer.messageId` made it. */
	readonly messageId: string
}

export interface MailContent {
	readonly to: string
	/** Whom everybody sees. */
	readonly cc: readonly string[]
	/** Whom nobody else sees. A file names them, for the mail system that picks it up. */
	readonly bcc: readonly string[]
	/** The address for answers; null: the sending address. */
	readonly replyTo: string | null
	/** Shown, with the operator's name, before the sending address, which is MAIL_FROM for every sender. */
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
	/** By which the HTML shows it; such a file is no attachment to its reader. */
	readonly cid?: string
}

export interface Mailer {
	readonly transport: 'smtp' | 'file' | 'none'
	readonly configured: boolean
	/** The sending address. */
	readonly from: string | null
	/** The settings that are missing for sending mail. */
	readonly missing: readonly (keyof MailSettings)[]
	/** The `Message-ID` of the mail with this id. */
	messageId(id: string): string
	/** Returns once the mail server or folder has taken the mail for `to`; throws a MailError otherwise. */
	send(mail: Mail): Promise<readonly RecipientAnswer[]>
	/** Aborts the mails under way. */
	close(): void
}

export interface MailSettings {
	/**
	 * `smtp://user:password@host:port`: encrypted when the server offers it (STARTTLS), always with `?requireTLS=true`.
	 * `smtps://…`: encrypted from the start. A self-signed certificate needs `?tls.rejectUnauthorized=false`.
	 * `file:<folder>`: each mail becomes a file there. Empty: no mail.
	 */
	readonly SMTP_URL: string
	readonly MAIL_FROM: string
}

/** How long a mail may take, from the look-up of the server's name to the server's last answer. */
export const mailTimeoutMs = 20_000

export function openMailer({ SMTP_URL, MAIL_FROM }: MailSettings, { timeoutMs = mailTimeoutMs } = {}): Mailer {
	const transport = transportOf(SMTP_URL)
	const { from, operator } = senderOf(MAIL_FROM || (transport === 'file' ? 'invoices@localhost' : ''))
	let opening: Promise<Delivery> | undefined
	const missing: (keyof MailSettings)[] = []
	if (transport === 'none') missing.push('SMTP_URL')
	if (from === null) missing.push('MAIL_FROM')
	return {
		transport,
		configured: missing.length === 0,
		from,
		missing,
		messageId: (id) => `<${id}@${from === null ? 'localhost' : wireAddress(from).split('@').at(-1)}>`,
		async send(mail) {
			if (transport === 'none' || from === null)
				throw new MailError(`E-mail is not set up: the server needs ${missing.join(' and ')}.`)
			const recipients = distinct([mail.to, ...mail.cc, ...mail.bcc])
			const message = { ...compose(mail, from, operator), envelope: { from: wireAddress(from), to: recipients.map(wireAddress) } }
			opening ??= openDelivery(transport, SMTP_URL, timeoutMs)
			const delivery = await opening
			return delivery.deliver(message, recipients)
		},
		close: () => opening?.then((delivery) => delivery.close()),
	}
}

/** The sending address, and the name of who runs the server. */
function senderOf(mailFrom: string): { from: string | null; operator: string } {
	if (mailFrom === '') return { from: null, operator: '' }
	const [, name = '', inner] = /^([^<>@]*)<([^<>]*)>$/.exec(mailFrom) ?? []
	const from = inner ?? mailFrom
	if (isAddress(from)) return { from, operator: plainName(name.replaceAll('"', '')) || (from.split('@').at(-1) ?? '') }
	throw new ConfigError('MAIL_FROM: must be one address, such as invoices@example.com or Name <invoices@example.com>')
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
function compose(mail: Mail, from: string, operator: string): SendMailOptions {
	const { messageId, to, cc, bcc, replyTo, senderName, subject, text, html, attachments } = mail
	for (const address of [to, ...cc, ...bcc])
		if (!isAddress(address)) throw new MailError('The recipient must be one e-mail address, such as name@example.com.')
	if (replyTo !== null && !isAddress(replyTo)) throw new MailError('The address for answers must be one e-mail address.')
	return {
		from: { name: senderLine(senderName, operator), address: wireAddress(from) },
		to: unnamed(to),
		cc: cc.map(unnamed),
		bcc: bcc.map(unnamed),
		...(replyTo !== null && { replyTo: unnamed(replyTo) }),
		messageId,
		subject: oneLine(subject),
		text,
		html,
		attachments: attachments.map(({ filename, contentType, content, cid }) => ({
			...(cid !== undefined && { cid, contentDisposition: 'inline' as const }),
			filename: oneLine(filename),
			contentType,
			content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
		})),
		disableFileAccess: true,
		disableUrlAccess: true,
	}
}

/** Enough for a name, and little enough for the operator's to be seen behind it. */
const maxName = 64

/**
 * The name that recipients see. An organization's name is its own claim, so it cannot look like an address, and the operator's
 * stands behind it, unless the two are the same.
 */
function senderLine(sender: string, operator: string): string {
	const name = plainName(sender)
	return name === '' || name === operator ? operator : `${name} via ${operator}`
}

/** Without what makes a name look like an address (`@ < >`, also in other widths) or run backwards (UAX #9). */
const plainName = (text: string) =>
	[...oneLine(text.replace(/[@<>＠﹫＜＞﹤﹥\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')).replace(/\s+/gu, ' ')]
		.slice(0, maxName)
		.join('')
		.trim()

const unnamed = (address: string) => ({ name: '', address: wireAddress(address) })

const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
