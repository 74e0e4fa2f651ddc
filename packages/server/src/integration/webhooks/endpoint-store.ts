import type { EndpointHeader, ResourceKind, WebhookEndpoint, WebhookEndpointCreate } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Origin } from '../../platform/base/origin.ts'
import type { Writing } from '../../platform/db/audit-log.ts'
import { asNumber, type Db, query } from '../../platform/db/database.ts'
import { parseRows } from '../../platform/db/pages.ts'
import { type ListFilter, limitWithin, records } from '../../platform/db/records.ts'
import { type Part, RowList } from '../../platform/db/row-lists.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { recordEvent } from '../../platform/events/record.ts'
import { sealedColumns } from '../../platform/outside/sealed-columns.ts'
import type { Secrets } from '../../platform/outside/secrets.ts'
import { hintOf, newSecret } from './signature.ts'

export interface EndpointKey {
	readonly organizationId: string
	readonly id: string
}

/** Columns that no answer shows. Secrets are sealed. */
interface Hidden {
	/** As `hostOf` its URL. */
	readonly host: string
	readonly secret: string
	readonly previousSecret: string | null
	/** The headers of its requests, as JSON. */
	readonly headers: string | null
	readonly warnedAt: number | null
	readonly worksSince: number | null
	readonly resumedAt: number | null
	readonly deletedAt: number | null
}

interface Filter extends ListFilter<'webhooks.endpoints.list'> {
	/** Only endpoints that are limited to kinds among these. */
	readonly within?: readonly ResourceKind[]
}

export const endpoints = records<WebhookEndpoint, Filter, Hidden>({
	name: 'webhook_endpoint',
	table: 'webhook_endpoints',
	fields: fields.WebhookEndpoint,
	softDelete: true,
	filter: (rows, _, { within, ...filters }, dialect) => limitWithin(rows.where(filters), within, dialect),
})

/** An organization has no more of them. */
export const maxEndpoints = 50

/** The ids of the live endpoints that are limited to kinds among these. */
export async function endpointsWithin(db: Db, organizationId: string, within: readonly ResourceKind[]): Promise<string[]> {
	const { rows } = await endpoints.readPage(db, organizationId, { within, limit: maxEndpoints, offset: 0 })
	return parseRows<WebhookEndpoint>(rows).map(({ id }) => id)
}

/** The host of an endpoint's URL. All endpoints on a host share its limits. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '')

const liveOnes = query<{ organizationId: string; limit: number }, { id: string }>((knex, { organizationId, limit }) =>
	knex('webhook_endpoints').where({ organizationId }).whereNull('deletedAt').limit(asNumber(limit)).select('id'),
)

/** The number of an organization's endpoints, counted up to `limit`. */
export const countEndpoints = async (db: Db, organizationId: string, limit: number): Promise<number> =>
	(await db.all(liveOnes, { organizationId, limit })).length

const { webhookSecret, previousWebhookSecret, webhookHeaders } = sealedColumns

/** The columns of headers that a caller gave. */
export function headerColumns(
	secrets: Secrets,
	endpoint: EndpointKey,
	headers: readonly EndpointHeader[],
): Pick<WebhookEndpoint & Hidden, 'headerNames' | 'headers'> {
	const sealed = headers.length === 0 ? null : secrets.seal(webhookHeaders, endpoint, JSON.stringify(headers))
	return { headerNames: headers.map(({ name }) => name), headers: sealed }
}

/** Unseals an endpoint's headers; undefined when the server lost the sealing key. */
export function openHeaders(secrets: Secrets, endpoint: EndpointKey, sealed: string): readonly EndpointHeader[] | undefined {
	const text = secrets.unseal(webhookHeaders, endpoint, sealed)
	return text === undefined ? undefined : JSON.parse(text)
}

export async function createEndpoint(
	write: WriteContext,
	secrets: Secrets,
	{ headers = [], ...input }: WebhookEndpointCreate & Partial<Pick<WebhookEndpoint, 'resources'>>,
): Promise<WebhookEndpoint & { secret: string }> {
	const { origin, organization } = write
	const secret = newSecret()
	const key = { organizationId: organization.id, id: newId('whe') }
	const { headerNames, headers: sealedHeaders } = headerColumns(secrets, key, headers)
	const endpoint: WebhookEndpoint = {
		...blanks.WebhookEndpoint,
		ordering: 'resource',
		...input,
		headerNames,
		...key,
		status: 'active',
		secretHint: hintOf(secret),
		createdAt: origin.now,
		updatedAt: origin.now,
		version: 1,
	}
	const host = hostOf(input.url)
	const hidden = {
		host,
		secret: secrets.seal(webhookSecret, key, secret),
		headers: sealedHeaders,
		previousSecret: null,
		warnedAt: null,
		worksSince: null,
		resumedAt: null,
		deletedAt: null,
	}
	await endpoints.insert(write, endpoint, hidden)
	return { ...endpoint, secret }
}

/**
 * Gives an endpoint a new secret, and returns it; the old one keeps signing until `previousSecretExpiresAt`, which is null when the
 * server lost its sealing key.
 */
export async function rotateSecret(
	write: Writing,
	secrets: Secrets,
	endpoint: WebhookEndpoint,
	previousSecretExpiresAt: number | null,
): Promise<{ secret: string; previousSecretExpiresAt: number | null }> {
	const secret = newSecret()
	const key = keyOf(endpoint)
	const sealed = previousSecretExpiresAt === null ? undefined : await write.db.get(sealedSecret, key)
	const old = sealed && secrets.unseal(webhookSecret, key, sealed.secret)
	const expiresAt = old === undefined ? null : previousSecretExpiresAt
	await endpoints.update(write, endpoint, {
		secret: secrets.seal(webhookSecret, key, secret),
		secretHint: hintOf(secret),
		previousSecret: old === undefined ? null : secrets.seal(previousWebhookSecret, key, old),
		previousSecretExpiresAt: expiresAt,
	})
	return { secret, previousSecretExpiresAt: expiresAt }
}

const keyOf = ({ organizationId, id }: WebhookEndpoint) => ({ organizationId, id })

const sealedSecret = query<EndpointKey, { secret: string }>((knex, key) => knex('webhook_endpoints').where(key).select('secret'))

/** Soft-deletes an endpoint and erases its secrets. */
export const softDeleteEndpoint = (write: Writing, endpoint: WebhookEndpoint) =>
	endpoints.update(
		write,
		endpoint,
		{ deletedAt: write.origin.now, secret: '', headers: null, previousSecret: null, previousSecretExpiresAt: null },
		'deleted',
	)

type EndpointEvent = 'webhook.endpoint.failing' | 'webhook.endpoint.disabled' | 'webhook.test'

/** Records an event about an endpoint. The caller holds its lock. `onlyTo` names the one endpoint that gets the event. */
export function recordEndpointEvent(db: Db, origin: Origin, endpoint: WebhookEndpoint, type: EndpointEvent, onlyTo?: string) {
	const { organizationId, id } = endpoint
	return recordEvent(db, origin, {
		type,
		organizationId,
		resource: 'webhook_endpoint',
		resourceId: id,
		data: JSON.stringify(endpoint),
		...(onlyTo !== undefined && { onlyTo }),
	})
}

/** How the attempts to an endpoint end. */
export interface HealthState {
	/** Since when all have failed. */
	readonly failingSince: number | null
	/** When its owner was last warned. */
	readonly warnedAt: number | null
	/** Since when all have succeeded at its present URL; null also while a pass is in use. */
	readonly worksSince: number | null
}

/** Read when an attempt ends: other attempts may have ended since it began, or the owner may have set the endpoint active. */
const healthState = query<EndpointKey, HealthState>((knex, key) =>
	knex('webhook_endpoints').where(key).select('failingSince', 'warnedAt', 'worksSince'),
)

export const findHealthState = (db: Db, organizationId: string, id: string) => db.get(healthState, { organizationId, id })

const keys = new RowList<EndpointKey>({ organizationId: 'text', id: 'text' })

const healthStates = query<Part<EndpointKey>, HealthState & { id: string }>((knex, part, dialect) =>
	knex
		.from(keys.table(knex, part, dialect))
		.joinRaw('join webhook_endpoints p on p."organizationId" = r."organizationId" and p.id = r.id')
		.select('p.id', 'failingSince', 'warnedAt', 'worksSince'),
)

export const findHealthStates = (db: Db, all: readonly EndpointKey[]) => keys.all(db, healthStates, all)

const works = query<EndpointKey & { now: number }>((knex, { now, ...key }) =>
	knex('webhook_endpoints').where(key).whereNull('worksSince').update({ worksSince: now }),
)

/** Notes that an endpoint works. No answer shows it, so its version stays. */
export const noteWorks = (db: Db, { organizationId, id }: WebhookEndpoint, now: number) =>
	db.run(works, { organizationId, id, now })

const resume = query<EndpointKey & { now: number }>((knex, { now, ...key }) =>
	knex('webhook_endpoints').where(key).update({ resumedAt: now }),
)

/** Ends the pause that an endpoint's receiver asked for. No answer shows it, so its version stays. */
export const resumeEndpoint = (db: Db, { organizationId, id }: WebhookEndpoint, now: number) =>
	db.run(resume, { organizationId, id, now })

const passUse = query<{ organizationId: string; endpointId: string }>((knex, { organizationId, endpointId }) =>
	knex('webhook_endpoints').where({ organizationId, id: endpointId }).whereNotNull('worksSince').update({ worksSince: null }),
)

/** Uses up an endpoint's pass (probation-store.ts), which the next success gives back; false when another attempt has used it. */
export const useEndpointPass = async (
	db: Db,
	{ organizationId, endpointId }: { readonly organizationId: string; readonly endpointId: string },
): Promise<boolean> => (await db.run(passUse, { organizationId, endpointId })) > 0
