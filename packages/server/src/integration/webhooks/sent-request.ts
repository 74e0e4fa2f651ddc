// The request of an attempt, as it is sent and as it is shown later. Its body is the event, its id and its timestamp are those of the event and of
// the attempt: only the rest is stored.
import type { KeyObject } from 'node:crypto'
import type { DeliveryRequest } from '../../generated/contract.ts'
import { type Attempt, always } from '../../platform/outside/http.ts'
import { signedHeaders } from './signature.ts'

const signature = 'webhook-signature'
const outOfOrder = 'webhook-out-of-order'

interface Sending {
	readonly url: string
	/** Headers that the endpoint wants. */
	readonly own: Readonly<Record<string, string>>
	readonly keys: readonly KeyObject[]
	readonly eventId: string
	readonly startedAt: number
	readonly outOfOrder: boolean
	/** By which a receiver goes on with the trace of the attempt; empty where none is made. */
	readonly trace: Readonly<Record<string, string>>
	readonly body: Uint8Array
}

/** The request, and as JSON what is to be stored of it. */
export function requestOf({ url, own, keys, eventId, startedAt, trace, body, ...delivery }: Sending): {
	attempt: Attempt
	stored: string
} {
	const signed = signedHeaders(keys, eventId, startedAt, body)
	const mark = delivery.outOfOrder && { [outOfOrder]: 'true' }
	const hidden = Object.fromEntries(Object.keys(own).map((name) => [name.toLowerCase(), '(hidden)']))
	const kept = { ...trace, ...hidden, 'user-agent': always['user-agent'], [signature]: signed[signature], ...mark }
	return {
		attempt: { url, headers: { ...trace, ...own, ...signed, ...mark }, body },
		stored: JSON.stringify({ url, headers: kept }),
	}
}

/** What is stored of the last attempt. */
export interface SentRequest extends Pick<DeliveryRequest, 'url' | 'headers'> {
	readonly startedAt: number
}

/** The request as it was sent, of the event as it is stored. */
export const shownRequest = ({ url, headers, startedAt }: SentRequest, eventId: string, body: string): DeliveryRequest => ({
	url,
	headers: {
		'content-type': always['content-type'],
		'webhook-id': eventId,
		'webhook-timestamp': String(Math.floor(startedAt / 1000)),
		...headers,
	},
	body,
})
