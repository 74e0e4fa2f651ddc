// An organization with a receiver for its webhooks, and short functions to read and change its deliveries.
import type { WebhookDelivery, WebhookDeliveryDetails } from '@remit/sdk'
import { expect } from 'vitest'
import type { DeliveryResult } from '../src/integration/webhooks/engine/queue-store.ts'
import type { TestServer } from './harness.ts'
import { Sink } from './sink.ts'

type Status = WebhookDelivery['status']
type Filters = Record<string, string>
interface Listed {
	readonly data: WebhookDelivery[]
	readonly meta: { readonly total: number | null; readonly nextCursor: string | null }
}

export async function startSubscriber(server: TestServer) {
	const tenant = await server.newTenant()
	const { ask, remit } = tenant
	const sink = await new Sink().start()
	const list = async (filters: Filters = {}): Promise<Listed> =>
		(await ask('GET', `/webhooks/deliveries?${new URLSearchParams(filters)}`)).body
	/** Newest first. */
	const statuses = async (filters?: Filters) => (await list(filters)).data.map(({ status }) => status)
	return {
		tenant,
		sink,
		list,
		statuses,
		newEndpoint: (...eventTypes: string[]) => sink.subscribe(remit, ...eventTypes),
		/** Creates a company, or changes the given one, a second after the last change; returns its id. */
		async change(name: string, company?: string): Promise<string> {
			server.clock.now += 1000
			if (company === undefined) return (await remit.companies.create({ name })).id
			await remit.companies.update(company, { name })
			return company
		},
		/** The names that arrived, in order. */
		arrived: () => sink.received.map(({ event }) => (event.data as { name: string }).name),
		/** Waits until the deliveries, newest first, have these statuses. */
		settle: (...expected: Status[]) => expect.poll(() => statuses(), { timeout: 10_000 }).toEqual(expected),
		read: async (id: string): Promise<WebhookDeliveryDetails> => (await ask('GET', `/webhooks/deliveries/${id}`)).body.data,
		newest: async () => (await list({ limit: '1' })).data[0] as WebhookDelivery,
		redeliver: (id: string) => ask('POST', `/webhooks/deliveries/${id}/redeliver`),
		redeliverAll: (endpoint: string, body?: object) => ask('POST', `/webhooks/endpoints/${endpoint}/redeliver`, body && { body }),
		setStatus: (endpoint: string, status: string) => ask('PATCH', `/webhooks/endpoints/${endpoint}`, { body: { status } }),
		async stop(): Promise<void> {
			expect(sink.problems).toEqual([])
			await sink.stop()
		},
	}
}

type Own = Partial<DeliveryResult> & Pick<DeliveryResult, 'organizationId'>

/** What is written of an attempt that succeeded, the first of its delivery. */
export const succeeded = (own: Own): DeliveryResult => ({
	...{ id: 'whd_1', endpointId: 'whe_1', resourceId: 'cmp_1', number: 1, sequence: 1, wasOutOfOrder: false, leaseEnd: 0 },
	...{ status: 'succeeded', nextAttemptAt: null, scheduledAt: null, counts: 1, request: null, startedAt: 0, durationMs: 0 },
	...{ responseStatus: 204, responseBody: '', error: null, endedAt: 0 },
	...own,
})
