// What a change of an endpoint does to the deliveries that wait for it.
import { ApiError } from '../base/errors.ts'
import type { WriteContext } from '../db/write-context.ts'
import type { WebhookEndpoint, WebhookEndpointUpdate } from '../generated/contract.ts'
import { cancelWaiting, skipWaiting } from './delivery-store.ts'
import { endpoints, removeSecrets } from './endpoint-store.ts'

/** Nothing is sent to an endpoint that its owner, or Remit, has stopped. */
export function requireActive({ id, status }: WebhookEndpoint): void {
	if (status === 'active') return
	throw new ApiError('webhook_endpoint_not_active', `The endpoint ${id} is ${status}: set its status to active first.`)
}

/** Changes an endpoint that was read with `lock`. */
export async function changeEndpoint(
	{ db, origin }: WriteContext,
	stored: WebhookEndpoint,
	input: WebhookEndpointUpdate,
): Promise<WebhookEndpoint> {
	// What was held against it is forgotten when its owner says that it works.
	const recovered = input.status === 'active' && { disabledReason: null, failingSince: null, warnedAt: null }
	const endpoint = await endpoints.update(db, stored, { ...input, ...recovered }, origin.now)
	if (endpoint.status !== 'active') await skipWaiting(db, endpoint, origin.now)
	return endpoint
}

/** Deletes an endpoint that was read with `lock`, and its secrets for good. */
export async function removeEndpoint({ db, origin }: WriteContext, stored: WebhookEndpoint): Promise<void> {
	await removeSecrets(db, stored, origin.now)
	await cancelWaiting(db, stored, origin.now)
}
