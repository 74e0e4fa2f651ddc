// Changes and deletes endpoints, and what that does to the deliveries that wait for them.
import { ApiError } from '../base/errors.ts'
import type { Writing } from '../db/audit-log.ts'
import type { Db } from '../db/database.ts'
import type { WebhookEndpoint, WebhookEndpointUpdate } from '../generated/contract.ts'
import { lockOrganization } from '../organizations/store.ts'
import { cancelWaiting, skipWaiting } from './delivery-store.ts'
import { countEndpoints, endpoints, type FailureState, hostOf, maxEndpoints, softDeleteEndpoint } from './endpoint-store.ts'

/** What the engine writes of an endpoint: it disables one that only fails, and remembers since when. */
type HealthChange = Partial<Pick<WebhookEndpoint, 'status' | 'disabledReason' | 'failingSince'> & FailureState>

/** Throws when the owner paused the endpoint or Remit disabled it. */
export function requireActive({ id, status }: WebhookEndpoint): void {
	if (status === 'active') return
	throw new ApiError('webhook_endpoint_not_active', `The endpoint ${id} is ${status}: set its status to active first.`)
}

/** Throws when the organization has as many endpoints as it may. The organization stays locked, so that two requests cannot both be the last. */
export async function requireRoom(db: Db, organizationId: string): Promise<void> {
	await lockOrganization(db, organizationId)
	if ((await countEndpoints(db, organizationId, maxEndpoints)) < maxEndpoints) return
	throw new ApiError(
		'too_many_endpoints',
		`The organization has ${maxEndpoints} webhook endpoints, the most that it may: delete one first.`,
	)
}

/** Changes an endpoint that was read with `lock`. */
export async function changeEndpoint(
	write: Writing,
	stored: WebhookEndpoint,
	input: WebhookEndpointUpdate | HealthChange,
): Promise<WebhookEndpoint> {
	// An owner who sets the endpoint active says that it works: its failures are forgotten.
	const recovered = input.status === 'active' && { disabledReason: null, failingSince: null, warnedAt: null }
	const moved = 'url' in input && input.url !== undefined && { host: hostOf(input.url) }
	const endpoint = await endpoints.update(write, stored, { ...input, ...recovered, ...moved })
	if (endpoint.status !== 'active') await skipWaiting(write.db, endpoint, write.origin.now)
	return endpoint
}

/** Soft-deletes an endpoint that was read with `lock`, erases its secrets and cancels its waiting deliveries. */
export async function removeEndpoint(write: Writing, stored: WebhookEndpoint): Promise<void> {
	await softDeleteEndpoint(write, stored)
	await cancelWaiting(write.db, stored, write.origin.now)
}
