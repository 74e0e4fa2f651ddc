// Changes and deletes endpoints, and what that does to the deliveries that wait for them.

import { lockOrganization } from '../../accounts/doors.ts'
import type { EndpointHeader, WebhookEndpoint, WebhookEndpointUpdate } from '../../generated/contract.ts'
import type { Reach } from '../../platform/auth/keys.ts'
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import { patternsOf, typesAbout } from '../../platform/contract/event-patterns.ts'
import type { Writing } from '../../platform/db/audit-log.ts'
import type { Db } from '../../platform/db/database.ts'
import { endWaiting, findUnderWay } from './backlog-store.ts'
import {
	countEndpoints,
	endpoints,
	type HealthState,
	type headerColumns,
	hostOf,
	maxEndpoints,
	softDeleteEndpoint,
} from './endpoint-store.ts'
import { noteRecovery } from './recovery-store.ts'

/** What the engine writes of an endpoint: it disables one that only fails, and remembers since when. */
export type EndpointColumns = ReturnType<typeof headerColumns>

type HealthChange = Partial<Pick<WebhookEndpoint, 'status' | 'disabledReason'> & HealthState>

/** Throws when the owner paused the endpoint or Remit disabled it. */
export function requireActive({ id, status }: WebhookEndpoint): void {
	if (status === 'active') return
	throw new ApiError('webhook_endpoint_not_active', `The endpoint ${id} is ${status}: set its status to active first.`)
}

/** Throws unless deliveries to the endpoint can be made again: it is active, and those of its last pause are all skipped. */
export async function requireReady(db: Db, endpoint: WebhookEndpoint): Promise<void> {
	requireActive(endpoint)
	if ((await findUnderWay(db, endpoint)) === 'skipping')
		throw new ApiError(
			'delivery_under_way',
			'Deliveries that waited at the pause are still being skipped: try again in some seconds.',
		)
}

/** Throws also while an earlier redelivery goes on, of which a new one would forget the rest. */
export async function requireReadyForAll(db: Db, endpoint: WebhookEndpoint): Promise<void> {
	await requireReady(db, endpoint)
	if (await findUnderWay(db, endpoint))
		throw new ApiError(
			'delivery_under_way',
			'An earlier redelivery to the endpoint is still going on: try again when it is done.',
		)
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

/** Throws when an endpoint that is limited to some kinds of records subscribes to events about others alone: it would get none. */
export function requireReach(reach: Reach, eventTypes: readonly string[] = []): void {
	if (reach === null) return
	const reached = new Set(typesAbout(reach).flatMap(patternsOf))
	const place = eventTypes.findIndex((pattern) => !reached.has(pattern))
	if (place < 0) return
	const detail = `The endpoint is limited to ${reach.join(', ')}, and ${eventTypes[place]} is about others.`
	throw fieldError('event_type_out_of_reach', `/eventTypes/${place}`, detail)
}

/** Headers may be secrets, which another host, port or scheme must not learn. Who may change the URL chooses its path all the same. */
const headersGone = (stored: WebhookEndpoint, url: string) =>
	stored.headerNames.length > 0 && new URL(url).origin !== new URL(stored.url).origin && { headerNames: [], headers: null }

/** Throws when two headers have one name: HTTP knows no case in it. */
export function requireOwnNames(headers: readonly EndpointHeader[] = []): void {
	const names = headers.map(({ name }) => name.toLowerCase())
	const place = names.findIndex((name, index) => names.indexOf(name) < index)
	if (place < 0) return
	throw new ApiError('invalid_request', 'Two headers have the same name.', {
		errors: [
			{
				pointer: `/headers/${place}/name`,
				code: 'uniqueItems',
				detail: 'must differ from the names before it, in whatever case',
			},
		],
	})
}

/** Changes an endpoint that was read with `lock`. */
export async function changeEndpoint(
	write: Writing,
	stored: WebhookEndpoint,
	input: (Omit<WebhookEndpointUpdate, 'headers'> & Partial<EndpointColumns>) | HealthChange,
): Promise<WebhookEndpoint> {
	if ('eventTypes' in input) requireReach(stored.resources, input.eventTypes)
	// An owner who sets the endpoint active says that it works: its failures are forgotten.
	const recovers = input.status === 'active' && (stored.status !== 'active' || stored.failingSince !== null)
	const resumedAt = write.origin.now
	const recovered = recovers && { disabledReason: null, failingSince: null, warnedAt: null, resumedAt }
	const moved = 'url' in input &&
		input.url !== undefined &&
		input.url !== stored.url && { host: hostOf(input.url), worksSince: null, resumedAt, ...headersGone(stored, input.url) }
	const endpoint = await endpoints.update(write, stored, { ...moved, ...input, ...recovered })
	if (recovers && stored.status === 'active' && stored.failingSince !== null)
		await noteRecovery(write.db, stored, stored.failingSince, write.origin.now)
	if (endpoint.status !== 'active') await endWaiting(write.db, endpoint, 'skipped', write.origin.now)
	return endpoint
}

/** Soft-deletes an endpoint that was read with `lock`, erases its secrets and cancels its waiting deliveries. */
export async function removeEndpoint(write: Writing, stored: WebhookEndpoint): Promise<void> {
	await softDeleteEndpoint(write, stored)
	await endWaiting(write.db, stored, 'cancelled', write.origin.now)
}
