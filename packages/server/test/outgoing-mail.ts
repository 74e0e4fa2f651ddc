// A mail to send, and the servers of the mail tests, which close after each test.
import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { afterEach, expect } from 'vitest'
import { MailError } from '../src/platform/outside/mail/delivery.ts'
import { type Mail, openMailer } from '../src/platform/outside/mail/mail.ts'

export const pdf = randomBytes(50_000)
export const mail = (fields: Partial<Mail> = {}): Mail => ({
	messageId: '<mail_1@remit.example>',
	to: 'ada@example.com',
	cc: [],
	bcc: [],
	replyTo: 'hello@northlight.example',
	senderName: 'Northlight Studio',
	subject: 'Invoice INV-0007 from Northlight Studio',
	text: 'Amount due: €1,606.50',
	html: '<p>Amount due: €1,606.50</p>',
	attachments: [{ filename: 'INV-0007.pdf', contentType: 'application/pdf', content: pdf }],
	...fields,
})

export const closers: (() => unknown)[] = []
afterEach(async () => {
	for (const close of closers.splice(0)) await close()
})

export interface Received {
	readonly from: string
	readonly to: readonly string[]
	readonly secure: boolean
	readonly user: unknown
	readonly raw: string
	readonly email: Email
}

const envelope = ({ envelope: { mailFrom, rcptTo }, secure, user }: SMTPServerSession) => ({
	from: mailFrom ? mailFrom.address : '',
	to: rcptTo.map(({ address }) => address),
	secure,
	user,
})

const noLogin: SMTPServerOptions = { authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], logger: false }

export async function smtpServer(options: SMTPServerOptions = {}) {
	const received: Received[] = []
	const server = new SMTPServer({
		...noLogin,
		closeTimeout: 1,
		async onData(stream, session, callback) {
			const raw = await buffer(stream)
			const email = await PostalMime.parse(raw)
			received.push({ ...envelope(session), raw: raw.toString('latin1'), email })
			callback()
		},
		...options,
	})
	// A client that hangs up is what some of these tests are about.
	server.on('error', () => {})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	closers.push(() => new Promise<void>((resolve) => server.close(resolve)))
	return { server, received, host: `127.0.0.1:${(server.server.address() as AddressInfo).port}` }
}

export async function tcpServer(onConnection: (socket: Socket) => void) {
	const sockets = new Set<Socket>()
	const server: Server = createServer((socket) => {
		sockets.add(socket.on('error', () => {}))
		onConnection(socket)
	})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	closers.push(() => {
		for (const socket of sockets) socket.destroy()
		server.close()
	})
	return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function mailer(url: string, timeoutMs = 5_000) {
	const opened = openMailer({ SMTP_URL: url, MAIL_FROM: 'invoices@remit.example' }, { timeoutMs })
	closers.push(() => opened.close())
	return opened
}

export async function rejected(sending: Promise<unknown>): Promise<MailError> {
	const error = await sending.then(
		() => new Error('was accepted'),
		(reason: Error) => reason,
	)
	expect(error).toBeInstanceOf(MailError)
	return error as MailError
}

export const replying = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

export async function delivered(fields: Partial<Mail>): Promise<Received> {
	const { host, received } = await smtpServer()
	await mailer(`smtp://${host}`).send(mail(fields))
	expect(received).toHaveLength(1)
	return received[0] as Received
}

export const headerNames = (email: Email) => email.headers.map(({ originalKey }) => originalKey).sort()
export const allHeaders = ['Content-Type', 'Date', 'From', 'MIME-Version', 'Message-ID', 'Reply-To', 'Subject', 'To']
