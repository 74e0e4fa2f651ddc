// Sends webhooks as vendors do: more than once and in any order.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'

export interface Delivery {
	readonly headers: Readonly<Record<string, string>>
	readonly body: string
}

export interface DeliveryOptions {
	/** Each is sent twice. */
	readonly doubled?: boolean
	/** In the order that follows from this number. */
	readonly shuffled?: number
}

export const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('base64')

export async function deliver(
	url: string,
	deliveries: readonly Delivery[],
	{ doubled = false, shuffled }: DeliveryOptions = {},
): Promise<number[]> {
	const all = doubled ? deliveries.flatMap((delivery) => [delivery, delivery]) : [...deliveries]
	const ordered = shuffled === undefined ? all : shuffle(all, shuffled)
	const statuses: number[] = []
	for (const { headers, body } of ordered) {
		const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
		await answer.arrayBuffer()
		statuses.push(answer.status)
	}
	return statuses
}

const shuffle = <T>(all: T[], seed: number): T[] =>
	fc.sample(fc.shuffledSubarray(all, { minLength: all.length }), { seed, numRuns: 1 })[0] ?? all
