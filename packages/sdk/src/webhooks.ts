// Verifies webhooks, which are signed as Standard Webhooks 1.0 specifies:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { RemitError } from './errors.ts'
import type { WebhookEvent } from './generated/contract.ts'

/** The headers of a request: a `Headers`, or a record such as Node's `request.headers`. The case of names does not matter. */
export type WebhookHeaders = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyWebhookOptions {
	/** How many seconds `webhook-timestamp` may differ from `now`; an older request may be a replay. Default 300. */
	tolerance?: number
	/** The time to compare with, in Unix milliseconds; for a stored webhook, when it arrived. Default: the clock. */
	now?: number
}

export interface SignTestWebhookOptions {
	/** The `webhook-id`. Default: the event's id, or `evt_test` when the event is a string. */
	id?: string
	/** The `webhook-timestamp`, in Unix seconds. Default: the clock. */
	timestamp?: number
}

export type WebhookVerificationCode =
	| 'missing_header' // webhook-id, webhook-timestamp or webhook-signature
	| 'invalid_timestamp' // not a whole number
	| 'too_old'
	| 'too_new'
	| 'no_match' // something was changed, or another secret signed it
	| 'invalid_payload' // the signature matches, but the body is not an event: not UTF-8, not JSON, or without a type

/** The request is not a webhook from Remit, or not a fresh one: answer 400. `code` says what is wrong with it. */
export class WebhookVerificationError extends RemitError {
	override readonly name = 'WebhookVerificationError'
	/** What is wrong, for programs. */
	readonly code: WebhookVerificationCode

	constructor(code: WebhookVerificationCode, message: string) {
		super(message)
		this.code = code
	}
}

/**
 * Checks that a webhook comes from Remit, and returns its event. Works in every runtime with Web Crypto.
 *
 * @param rawBody The body as it arrived, not parsed: different spacing or order of keys has a different signature.
 * @param headers The headers of the request.
 * @param secret The endpoint's secret, `whsec_…`, or a list of secrets while one replaces another: one must match.
 * @throws {WebhookVerificationError} when the receiver should reject the request.
 * @throws {RemitError} when the receiver is set up wrongly: the secret is malformed, there are no headers, or the body was parsed already.
 */
export async function verifyWebhook(
	rawBody: string | Uint8Array | ArrayBuffer,
	headers: WebhookHeaders,
	secret: string | readonly string[],
	{ tolerance = 300, now = Date.now() }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
	// A missing secret is a mistake of the receiver, and must not look like a forged webhook.
	const keys = (secret?.length ? [secret].flat() : ['']).map(decodeSecret)
	const body = toBytes(rawBody)
	if (Object(headers) !== headers) throw new RemitError('headers must be the headers of the request, a Headers or a record')
	const id = readHeader(headers, 'webhook-id')
	const timestamp = readHeader(headers, 'webhook-timestamp')
	const signatures = readSignatures(readHeader(headers, 'webhook-signature'))
	checkTimestamp(timestamp, tolerance, now)
	const signed = signedBytes(id, timestamp, body)
	for (const key of keys) {
		const cryptoKey = await importKey(key)
		for (const signature of signatures) {
			// verify() compares in constant time.
			if (await crypto.subtle.verify('HMAC', cryptoKey, signature, signed))
				return parseEvent(signed.subarray(signed.length - body.length))
		}
	}
	throw new WebhookVerificationError('no_match', 'No signature matches: another secret, or not the body as it was sent')
}

/**
 * Signs a webhook as Remit would, for tests of a receiver. Send `body` unchanged: the signature holds only for these bytes.
 *
 * @param event An event, or any text to send in its place.
 * @throws {RemitError} when the secret is malformed.
 */
export async function signTestWebhook(
	event: WebhookEvent | string,
	secret: string,
	options: SignTestWebhookOptions = {},
): Promise<{ body: string; headers: Record<string, string> }> {
	const [body, eventId] = typeof event === 'string' ? [event, 'evt_test'] : [JSON.stringify(event), event.id]
	const { id = eventId, timestamp = Math.floor(Date.now() / 1000) } = options
	const key = await importKey(decodeSecret(secret))
	const mac = await crypto.subtle.sign('HMAC', key, signedBytes(id, `${timestamp}`, toBytes(body)))
	const headers = {
		'content-type': 'application/json',
		'webhook-id': id,
		'webhook-timestamp': `${timestamp}`,
		'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`,
	}
	return { body, headers }
}

/** Its errors never contain the secret. Requires 24 bytes, the standard's minimum: `whsec_null` decodes to three. */
function decodeSecret(secret: unknown): Uint8Array<ArrayBuffer> {
	try {
		const key = decodeBase64((secret as string).replace(/^whsec_/, ''))
		if (key.length >= 24) return key
	} catch {
		// Not a string, or not base64.
	}
	throw new RemitError('secret must be that of the webhook endpoint: "whsec_" and the base64 of at least 24 bytes')
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
	return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}

/** Recognises bytes by their tag, not by `instanceof`: some test runners have an ArrayBuffer of another realm. */
function toBytes(rawBody: string | Uint8Array | ArrayBuffer): Uint8Array {
	if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody)
	if (/Uint8Array|ArrayBuffer/.test(Object.prototype.toString.call(rawBody))) return new Uint8Array(rawBody)
	throw new RemitError(
		`rawBody must be the body as it arrived, a string or bytes, and is ${rawBody ? 'parsed already' : rawBody}: ` +
			"in Express, give this route express.raw({ type: 'application/json' }), and keep express.json() away from it",
	)
}

/** Joins a header that came several times with commas (RFC 9110 §5.3), as Headers and Node do. */
function readHeader(headers: WebhookHeaders, name: string): string {
	const value =
		typeof headers.get === 'function'
			? headers.get(name)
			: Object.entries(headers)
					.filter(([key]) => key.toLowerCase() === name)
					.flatMap(([, value]) => value)
					.join()
	if (value) return value
	throw new WebhookVerificationError('missing_header', `The request has no header ${name}`)
}

/** The signatures of version v1. At most ten, because each costs an HMAC of the body, and anyone can send them. */
function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
	// 32 bytes in canonical base64: the two unused bits of the last letter are 0.
	const found = header.matchAll(/(?:^|[\s,])v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)(?![^\s,])/g)
	return [...found].slice(0, 10).map(([, signature = '']) => decodeBase64(signature))
}

/** With a tolerance or time that is not a number, the comparison is false, so every webhook is rejected. */
function checkTimestamp(timestamp: string, tolerance: number, now: number): void {
	if (!/^\d+$/.test(timestamp)) {
		throw new WebhookVerificationError('invalid_timestamp', 'webhook-timestamp is not a time in Unix seconds')
	}
	const age = Math.floor(now / 1000) - Number(timestamp)
	if (Math.abs(age) <= tolerance) return
	const [code, side] = age < 0 ? (['too_new', 'ahead'] as const) : (['too_old', 'ago'] as const)
	throw new WebhookVerificationError(code, `webhook-timestamp is ${Math.abs(age)} seconds ${side}, not within ${tolerance}`)
}

/**
 * `id.timestamp.body` is unambiguous: no other split of these bytes leaves a JSON object as the body. It is a copy, so that the
 * parsed bytes are the verified ones.
 */
function signedBytes(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
	const head = new TextEncoder().encode(`${id}.${timestamp}.`)
	const bytes = new Uint8Array(head.length + body.length)
	bytes.set(head)
	bytes.set(body, head.length)
	return bytes
}

function importKey(key: Uint8Array<ArrayBuffer>) {
	return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

function parseEvent(body: Uint8Array): WebhookEvent {
	try {
		const event: WebhookEvent | null = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
		if (typeof event?.type === 'string') return event
	} catch {
		// Not UTF-8, or not JSON.
	}
	throw new WebhookVerificationError('invalid_payload', 'The signature matches, but the body is not a JSON object with a type')
}
