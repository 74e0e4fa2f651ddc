// No secret leaves a server. Whatever a server under test writes, be it an answer, a page, a log line, a mail, a webhook, an event or the output
// of a command, is looked through for secrets that tests made up, which have a mark, and for keys that servers make, which have a form.
import { ServerResponse } from 'node:http'

/** In every secret that tests make up. Letters and digits: only base64 changes them. */
const mark = 'S3cr3tMark'

/** A secret for tests, made of any letters, digits and _-. */
export const secret = (name = '') => `${mark}-${name}-0123456789`

/** As `secret`, in the alphabet of Stripe's keys. */
export const stripeSecret = (prefix: string, name = '') => `${prefix}_${mark}${name}0123456789`

/** One of ENCRYPTION_KEYS: 32 bytes in base64. */
export const encryptionKey = (name: string | number = 1) => `${`${mark}Key${name}`.padEnd(43, 'A')}=`

/** How base64 spells the mark, by what stands in front of it. */
const inBase64 = [0, 1, 2].map((before) => {
	const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(mark)])
	return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
})

const anyMark = new RegExp([mark, ...inBase64].join('|'))
/** A key of the API, and the secret of a webhook endpoint. */
const made = /rmt_[0-9A-Za-z]{38}|whsec_[0-9A-Za-z+/]{43}=/
/** The token of a client link or a connect link in a path, the code or state of an authorization. */
const inUrl = /\/(?:view\/invoice|invoices\/public|connect)\/[\w-]{20,}|[?&](?:code|state)=[\w-]{10,}/

/** The answers and commands that show a key that the server made, this once; and the contract, which has examples. */
const showOnce = [
	/^GET (\/docs)?\/openapi\.json$/,
	/^POST \/api-keys(\/[^/]+\/rotate)?$/,
	/^POST \/webhooks\/endpoints(\/[^/]+\/rotate-secret)?$/,
	/^remit keys create/,
	/^remit demo/,
	// Makes an endpoint of its own, and prints its secret.
	/^remit listen/,
	/^remit serve .*--demo/,
]

const found: string[] = []

/** Notes a leak, if there is one in what a server wrote; `place` says where that was. */
export function watch(place: string, written: string | Uint8Array): void {
	const text =
		typeof written === 'string' ? written : Buffer.from(written.buffer, written.byteOffset, written.byteLength).toString('latin1')
	const leak = anyMark.exec(text) ?? (showOnce.some((known) => known.test(place)) ? null : made.exec(text))
	if (leak) note(place, text, leak)
}

/** Notes a leak in a log line, which has no secret URL either. */
export function watchLog(line: string): void {
	watch('the log', line)
	const leak = inUrl.exec(line)
	if (leak) note('the log', line, leak)
}

function note(place: string, text: string, { index, 0: { length } }: RegExpExecArray): void {
	found.push(`${place} has a secret: …${text.slice(Math.max(0, index - 100), index + length + 20)}…`)
}

/** The leaks since the last call. */
export const takeLeaks = (): string[] => found.splice(0)

/** Throws when there were leaks. */
export function checkLeaks(): void {
	const leaks = takeLeaks()
	if (leaks.length > 0) throw new Error(leaks.slice(0, 10).join('\n'))
}

const ports = new Set<number>()

/** Looks through all answers of the server at this URL; until the returned function is called. */
export function watchAnswers(url: string): () => void {
	const port = Number(new URL(url).port)
	ports.add(port)
	return () => ports.delete(port)
}

/** What a server sends in answer to a request, whoever asks. */
const { write, end } = ServerResponse.prototype
Object.assign(ServerResponse.prototype, { write: watched(write), end: watched(end, true) })

function watched(send: (...args: never[]) => unknown, isEnd = false) {
	return function (this: ServerResponse, ...args: unknown[]): unknown {
		const { req } = this
		const isOurs = ports.has(req.socket.localPort as number)
		const sent = send.apply(this, args as never[])
		if (!isOurs) return sent
		const place = `${req.method} ${req.url?.split('?', 1)[0]}`
		const [chunk] = args
		if (typeof chunk === 'string' || chunk instanceof Uint8Array) watch(place, chunk)
		// As node:http wrote it.
		if (isEnd) watch(place, String(Reflect.get(this, '_header') ?? ''))
		return sent
	}
}
