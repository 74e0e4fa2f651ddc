// A person lets Remit in at a provider: a URL with a state that works once and for ten minutes, and what the browser brings back.

import { requireOrganization } from '../../accounts/doors.ts'
import type { Connection, ConnectionAuthorization } from '../../generated/contract.ts'
import { ApiError } from '../../platform/base/errors.ts'
import type { Origin } from '../../platform/base/origin.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Database } from '../../platform/db/database.ts'
import { beginAuthorization, exchangeCode, hashOfState, TokenFailed } from '../../platform/outside/providers/oauth.ts'
import type { Services } from '../../platform/outside/services.ts'
import { findAuthorization, isRemembered, openVerifier, saveAuthorization, useAuthorization } from './authorization-store.ts'
import { consumeLinkOf, hashOfSecret } from './link-store.ts'
import { accountBehind, columnsOf } from './probe.ts'
import type { Manifest } from './providers/manifest.ts'
import { findProvider, manifestOf } from './providers/providers.ts'
import { changeConnection, connections } from './store.ts'
import { saveToken } from './token-store.ts'
import { scopeColumns, serverClient, storedOf, urlsOf } from './tokens.ts'

/** Where the browser comes back to, below the server's URL. */
export const callbackPath = '/oauth/callback'

const stateMs = 10 * 60_000

interface Writing {
	readonly origin: Origin
	readonly services: Services
}

export interface Begun {
	readonly answer: ConnectionAuthorization
	store(tx: Parameters<typeof saveAuthorization>[0]): Promise<void>
}

/** The server's client at a provider; throws when there is none. */
export function requireClient(services: Services, manifest: Manifest) {
	const client = serverClient(services, manifest)
	if (client) return client
	const name = `PROVIDER_${manifest.id.toUpperCase()}_CLIENT`
	const detail = `The server has no client at ${manifest.name}: its operator sets ${name}_ID and ${name}_SECRET.`
	throw new ApiError('provider_not_configured', detail)
}

/** Throws when the server cannot authorize connections to the provider. `stateBrowser`: of a browser that came by a link. */
export function begin(
	{ origin, services }: Writing,
	connection: Connection,
	returnUrl: string | null,
	stateBrowser: string | null = null,
): Begun {
	const { organizationId, id } = connection
	const manifest = manifestOf(connection)
	if (connection.authType !== 'oauth2')
		throw new ApiError('invalid_connection', `The connection ${id} has ${connection.authType}, which needs no authorization.`)
	const client = requireClient(services, manifest)
	const redirectUri = services.baseUrl + callbackPath
	const scopes = scopesOf(manifest)
	const { url, state, verifier } = beginAuthorization(urlsOf(services, manifest).authorizationUrl, {
		...client,
		redirectUri,
		scopes,
	})
	const expiresAt = origin.now + stateMs
	return {
		answer: { url, expiresAt },
		async store(tx) {
			const stateHash = hashOfState(state)
			const row = { organizationId, id, stateHash, verifier, stateExpiresAt: expiresAt, returnUrl, stateBrowser }
			await saveAuthorization(tx, services.secrets, row)
			const audited = { organizationId, resource: 'connection', resourceId: id } as const
			await recordChange({ db: tx, origin }, { ...audited, action: 'authorization_started' })
		},
	}
}

const scopesOf = ({ oauth, objects }: Manifest) => [
	...new Set([...(oauth?.scopes ?? []), ...objects.flatMap(({ scopes }) => scopes)]),
]

/** What came of it. */
export type Concluded =
	| { readonly result: 'connected'; readonly connection: Connection; readonly returnUrl: string | null }
	| { readonly result: 'unknown' | 'used' | 'expired' }
	| { readonly result: 'denied' | 'failed'; readonly reason: string; readonly isByLink: boolean }

/** The authorization that `url`, where the browser came back to, is about. */
async function findBegun(db: Database, now: number, url: URL) {
	const state = url.searchParams.get('state') ?? ''
	const row = await findAuthorization(db, hashOfState(state))
	if (!row) return { result: 'unknown' } as const
	if (row.stateUsedAt !== null) return { result: 'used' } as const
	return row.stateExpiresAt < now ? ({ result: 'expired' } as const) : { result: 'begun' as const, row, state }
}

/** Whose connection it would be: the person is asked, who may have followed a link of somebody else. */
interface Asked {
	readonly result: 'asked'
	readonly organization: string
	readonly provider: string
	readonly connection: string
	/** The person said so on the page of a link, in the browser of this secret. */
	readonly isSaid: boolean
}

/** What the person is asked before the authorization is concluded. Uses nothing up. */
export async function ask(
	db: Database,
	now: number,
	url: URL,
	browser?: string,
): Promise<Asked | Extract<Concluded, { result: 'unknown' | 'used' | 'expired' }>> {
	const begun = await findBegun(db, now, url)
	if (begun.result !== 'begun') return begun
	const { organizationId, id } = begun.row
	const connection = await connections.find(db, organizationId, id)
	const provider = connection && findProvider(connection.provider)?.name
	if (!provider) return { result: 'unknown' }
	const { name } = await requireOrganization(db, organizationId)
	const { stateBrowser } = begun.row
	const isSaid = stateBrowser !== null && browser !== undefined && hashOfSecret(browser) === stateBrowser
	return { result: 'asked', organization: name || organizationId, provider, connection: connection.name, isSaid }
}

/** Concludes the authorization that `url` is about. */
export async function conclude(db: Database, { origin: by, services }: Writing, url: URL): Promise<Concluded> {
	const { now } = by
	const begun = await findBegun(db, now, url)
	if (begun.result !== 'begun') return begun
	const { row, state } = begun
	const origin: Origin = row.stateBrowser === null ? by : { ...by, actor: { type: 'client_link', id: null } }
	const verifier = openVerifier(services.secrets, row)
	const connection = await connections.find(db, row.organizationId, row.id)
	const manifest = connection && findProvider(connection.provider)
	const client = manifest && serverClient(services, manifest)
	if (!verifier || !client || connection?.status === 'disabled') return { result: 'unknown' }
	if (!(await db.transaction((tx) => useAuthorization(tx, row, now), row))) return { result: 'used' }
	try {
		const tokens = await exchangeCode(services.egress, client, url, { state, verifier })
		const opened = await accountBehind(services, connection, tokens.accessToken)
		return await db.transaction(async (tx) => {
			const stored = await connections.lock(tx, row.organizationId, row.id)
			if (!stored || !(await isRemembered(tx, row))) return { result: 'unknown' }
			await saveToken(tx, services.secrets, stored, storedOf(tokens, now), { lastRefreshedAt: null }, now)
			const authorized = (await connections.lock(tx, row.organizationId, row.id)) as Connection
			const proven = { lastSuccessAt: now, account: 'account' in opened ? opened.account : null }
			const scopes = scopeColumns(authorized, tokens.scopes ?? scopesOf(manifest))
			const changes = { ...columnsOf(authorized, opened, now), ...proven, ...scopes }
			const active = await changeConnection({ db: tx, origin }, authorized, changes)
			if (row.stateBrowser !== null) await consumeLinkOf(tx, row, now)
			return { result: 'connected', connection: active, returnUrl: row.returnUrl }
		}, row)
	} catch (error) {
		if (!(error instanceof TokenFailed)) throw error
		const { code, message } = error
		await db.transaction(async (tx) => {
			const stored = await connections.lock(tx, row.organizationId, row.id)
			if (stored) await changeConnection({ db: tx, origin }, stored, { lastError: { code, detail: message, at: now } })
		}, row)
		const isByLink = row.stateBrowser !== null
		return { result: code === 'authorization_denied' ? 'denied' : 'failed', reason: message, isByLink }
	}
}
