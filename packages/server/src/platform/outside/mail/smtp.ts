// Sends mail through an SMTP server. Without a pool: mails are rare, so a kept connection would mostly be stale, and in a pool's
// queue a mail could wait unnoticed. One time limit bounds the whole conversation.
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer'
import { addressKey } from './addresses.ts'
import { type Delivery, MailError, type RecipientAnswer } from './delivery.ts'

export function smtpDelivery(url: string, timeoutMs: number): Delivery {
	const closing = new AbortController()
	return {
		async deliver(message, recipients) {
			const foreign = [...recipients, ...replyTo(message)].filter(isForeign)
			const cannot = new AbortController()
			const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), closing.signal, cannot.signal])
			let [whole, takesForeign] = [false, false]
			const logger = {
				info(entry: { tnx?: string }) {
					// The end of the text, behind which stands the dot that makes the server take the mail (RFC 5321 §4.1.1.4).
					whole ||= 'outByteCount' in entry
					// Before the first command of the mail. Nodemailer would send such an address all the same.
					if (entry.tnx === 'send' && foreign.length > 0 && !takesForeign) cannot.abort()
				},
				debug(entry: { tnx?: string }, line: string) {
					takesForeign ||= entry.tnx === 'server' && /^250[ -]SMTPUTF8\b/im.test(line)
				},
			}
			const transporter = createTransport({ url, logger, transactionLog: true })
			const failed = (error: NodemailerError, answers?: readonly RecipientAnswer[]) =>
				new MailError(reason(error, timeoutMs) + copiesTaken(answers), {
					uncertain: whole && !isRefusal(error),
					recipients: answers ?? refusals(recipients, error.rejectedErrors),
					cause: error,
				})
			const info = await transporter
				.sendMail({ ...message, signal })
				.catch((error) => Promise.reject(cannot.signal.aborted ? foreignError(foreign, recipients) : failed(error)))
				.finally(() => transporter.close())
			// The server answers for each recipient, over LMTP (`?lmtp=true`) only after it has taken the mail.
			const answers = recipients.map((address) => answerFor(address, info.rejectedErrors))
			const refused = errorFor(recipients[0], info.rejectedErrors)
			if (refused) throw failed(refused, answers)
			return answers
		},
		close: () => closing.abort(),
	}
}

/** RFC 6531. A domain goes out under its ASCII name. */
const isForeign = (address: string) => /[^\x20-\x7e]/.test(address.slice(0, address.lastIndexOf('@')))

const replyTo = ({ replyTo }: SendMailOptions): string[] =>
	typeof replyTo === 'object' && 'address' in replyTo ? [replyTo.address ?? ''] : []

function foreignError([first]: readonly string[], recipients: readonly string[]): MailError {
	const answer = `The mail server takes no letters outside ASCII before the @ (SMTPUTF8), as in ${first}.`
	const refused = recipients.filter(isForeign).map((address) => ({ address, accepted: false, answer }))
	return new MailError(answer, { recipients: refused })
}

/** A reply that says no leaves nothing open: the mail was not taken. */
const isRefusal = ({ responseCode = 0 }: NodemailerError) => responseCode >= 400 && responseCode < 600

/** A copy may have left although the recipient was refused. */
function copiesTaken(answers: readonly RecipientAnswer[] = []): string {
	const taken = answers.filter(({ accepted }) => accepted).map(({ address }) => address)
	return taken.length > 0 ? ` That was for ${answers[0]?.address}; it took the mail for ${taken.join(', ')}.` : ''
}

type Errors = readonly NodemailerError[] | undefined

const errorFor = (address = '', errors: Errors) =>
	errors?.find(({ recipient = '' }) => addressKey(recipient) === addressKey(address))

function answerFor(address: string, errors: Errors): RecipientAnswer {
	const error = errorFor(address, errors)
	return { address, accepted: !error, answer: error ? quoted(error.response ?? error.message) : null }
}

const refusals = (recipients: readonly string[], errors: Errors) =>
	recipients.map((address) => answerFor(address, errors)).filter(({ accepted }) => !accepted)

/** The server's words in one line. */
const quoted = (words: string) => words.replace(/\p{Cc}+/gu, ' ').slice(0, 300)

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
		return 'The server stopped before the mail server had answered.'
	}
	// The server's own words about a failed sign-in may name the account, which the reader must not see.
	if (code === 'EAUTH') return `The mail server refused the user name or password${responseCode ? ` (${responseCode})` : ''}.`
	if (response) return `The mail server answered "${quoted(response)}".`
	const known = reasons[originalCode] ?? reasons[code]
	return known ? `The mail server ${known}.` : `The mail server cannot be used (${originalCode || code || 'unknown error'}).`
}
