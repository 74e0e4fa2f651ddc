// Mail through an SMTP server. No pool: an invoice is sent now and then, a kept connection would mostly be a stale one, and
// in a pool's queue a mail could wait without anybody being told. One clock bounds the whole conversation.
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer'

export function smtpDelivery(url: string, timeoutMs: number) {
	const transporter = createTransport(url)
	const closing = new AbortController()
	return {
		async deliver(message: SendMailOptions): Promise<void> {
			const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), closing.signal])
			const { accepted, rejectedErrors } = await transporter.sendMail({ ...message, signal })
			// LMTP (`?lmtp=true`) takes the mail first and answers for its recipient then.
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
	// What a server says of a failed sign-in may name the account, which is not the reader's.
	if (code === 'EAUTH') return `The mail server refused the user name or password${responseCode ? ` (${responseCode})` : ''}.`
	if (response) return `The mail server answered "${response.replace(/\p{Cc}+/gu, ' ').slice(0, 300)}".`
	const known = reasons[originalCode] ?? reasons[code]
	return known ? `The mail server ${known}.` : `The mail server cannot be used (${originalCode || code || 'unknown error'}).`
}
