// Sends mail through an SMTP server. Without a pool: mails are rare, so a kept connection would mostly be stale, and in a pool's
// queue a mail could wait unnoticed. One time limit bounds the whole conversation.
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer'

export function smtpDelivery(url: string, timeoutMs: number) {
	const transporter = createTransport(url)
	const closing = new AbortController()
	return {
		async deliver(message: SendMailOptions): Promise<void> {
			const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), closing.signal])
			const { accepted, rejectedErrors } = await transporter.sendMail({ ...message, signal })
			// An LMTP server (`?lmtp=true`) answers for the recipient only after it has taken the mail.
			if (accepted.length === 0) throw rejectedErrors?.[0] ?? new Error('The recipient was not accepted')
		},
		reason: (error: unknown) => reason(error as NodemailerError, timeoutMs),
		close() {
			closing.abort()
			transporter.close()
		},
	}
}

/** By the system's error code, else by Nodemailer's. */
const reasons: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'refused the connection',
	ECONNRESET: 'dropped the connection',
	EPIPE: 'dropped the connection',
	ECONNECTION: 'dropped the connection',
	EHOSTUNREACH: 'cannot be reached',
	ENETUNREACH: 'cannot be reached',
	ETIMEDOUT: 'did not answer in time',
	ENOTFOUND: 'has a name that no address is known for',
	EDNS: 'has a name that cannot be looked up',
}

function reason({ code = '', originalCode = '', response, responseCode, cause }: NodemailerError, timeoutMs: number): string {
	if (code === 'EABORT') {
		if ((cause as Error).name === 'TimeoutError') return `The mail server did not answer in ${timeoutMs / 1000} seconds.`
		return 'The mail was not sent: the server is stopping.'
	}
	// The server's own words about a failed sign-in may name the account, which the reader must not see.
	if (code === 'EAUTH') return `The mail server refused the user name or password${responseCode ? ` (${responseCode})` : ''}.`
	if (response) return `The mail server answered "${response.replace(/\p{Cc}+/gu, ' ').slice(0, 300)}".`
	const known = reasons[originalCode] ?? reasons[code]
	return known ? `The mail server ${known}.` : `The mail server cannot be used (${originalCode || code || 'unknown error'}).`
}
