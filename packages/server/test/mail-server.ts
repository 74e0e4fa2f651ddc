// A real mail server for tests, which keeps the mails that it receives.
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { extractText, getDocumentProxy } from 'unpdf'

export interface Received {
	readonly to: readonly string[]
	/** The mail as it arrived. */
	readonly raw: string
	readonly email: Email
}

export interface MailServer {
	/** The value for SMTP_URL. */
	readonly url: string
	readonly received: Received[]
	/** Runs when a mail has arrived, before the server says so. */
	beforeAnswer: () => Promise<void> | void
	/** Closes the connections without a word. */
	hangUp(): void
	close(): Promise<void>
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
	const received: Received[] = []
	const server = new SMTPServer({
		authOptional: true,
		disabledCommands: ['STARTTLS', 'AUTH'],
		logger: false,
		closeTimeout: 1,
		async onData(stream, session, callback) {
			const raw = await buffer(stream)
			const to = session.envelope.rcptTo.map(({ address }) => address)
			received.push({ to, raw: raw.toString('latin1'), email: await PostalMime.parse(raw) })
			await mail.beforeAnswer()
			callback()
		},
		...options,
	})
	// Clients that are killed are what some tests are about.
	server.on('error', () => {})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const mail: MailServer = {
		url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
		received,
		beforeAnswer() {},
		hangUp() {
			for (const connection of server.connections) connection.close()
		},
		close: () => new Promise((resolve) => server.close(resolve)),
	}
	return mail
}

/** The text of a PDF, page by page in one string, with each run of white space as one space. */
export async function pdfText(bytes: Uint8Array): Promise<string> {
	const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: true })
	return text.replace(/\s+/g, ' ')
}
