// What a provider signs, and the accounts that a webhook is about. Its body says that something changed; a run of the sync reads what.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { valueAt } from '../values.ts'

export interface ProviderWebhook {
	/** As the provider called it. */
	readonly url: string
	readonly headers: Readonly<Record<string, string | string[] | undefined>>
	readonly body: Uint8Array
}

/** A webhook without the right signature, or whose body is none. The message is for the provider. */
export class InvalidProviderWebhook extends Error {}

/** An older one may be a replay. */
const toleranceMs = 5 * 60_000

/** Checks a webhook and returns the ids of the accounts that it is about, each once. */
export const readers: Readonly<Record<'hubspot' | 'xero', (webhook: ProviderWebhook, secret: string, now: number) => string[]>> =
	{
		/** Signature v3: https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation */
		hubspot({ url, headers, body }, secret, now) {
			const timestamp = String(headers['x-hubspot-request-timestamp'] ?? '')
			const text = Buffer.concat([Buffer.from(`POST${url}`), body, Buffer.from(timestamp)])
			requireSignature(headers['x-hubspot-signature-v3'], secret, text)
			if (!(Math.abs(now - Number(timestamp)) <= toleranceMs))
				throw new InvalidProviderWebhook('The webhook is older than 5 minutes.')
			return accountsOf(parse(body), 'portalId')
		},
		/** https://developer.xero.com/documentation/guides/webhooks/configuring-your-server */
		xero({ headers, body }, secret) {
			requireSignature(headers['x-xero-signature'], secret, body)
			return accountsOf(valueAt(parse(body), 'events'), 'tenantId')
		},
	}

function requireSignature(signature: string | string[] | undefined, secret: string, text: Uint8Array): void {
	const expected = createHmac('sha256', secret).update(text).digest()
	const given = Buffer.from(String(signature ?? ''), 'base64')
	if (given.length !== expected.length || !timingSafeEqual(given, expected))
		throw new InvalidProviderWebhook('The webhook is not signed with the right secret.')
}

function parse(body: Uint8Array): unknown {
	try {
		return JSON.parse(Buffer.from(body).toString('utf8'))
	} catch (cause) {
		throw new InvalidProviderWebhook('The webhook is not JSON.', { cause })
	}
}

function accountsOf(events: unknown, name: string): string[] {
	const ids = (Array.isArray(events) ? events : []).map((event) => valueAt(event, name))
	return [...new Set(ids.filter((id) => typeof id === 'string' || typeof id === 'number').map(String))]
}
