// The access token of a connection, replaced before it expires: once, however many callers and processes want it. Callers of this process share one
// refresh; among processes a lease in the row decides. A rotated refresh token is stored before the access token that came with it is used.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../generated/contract.ts'
import type { Database } from '../../platform/db/database.ts'
import {
	clientTokens,
	type OAuthClient,
	refreshTokens,
	revokeToken,
	TokenFailed,
	type Tokens,
	tokenTimeoutMs,
} from '../../platform/outside/providers/oauth.ts'
import type { Services } from '../../platform/outside/services.ts'
import type { Manifest } from './providers/manifest.ts'
import { manifestOf } from './providers/providers.ts'
import { type ConnectionKey, openCredentials } from './store.ts'
import { findTokenRow, leaseRefresh, lockTokenRow, openToken, type StoredToken, saveToken, type TokenRow } from './token-store.ts'

export interface TokenContext {
	readonly db: Database
	readonly services: Services
	readonly now: number
}

/** An access token, and the row that it is of: it goes where that row's connection says. */
export interface Access {
	readonly accessToken: string
	readonly row: TokenRow
}

const leaseMs = tokenTimeoutMs + 10_000
/** How often, and how long, one waits for the process that asks for a new token. */
const longestWaitMs = 2_000
const giveUpMs = 25_000

const longestMargin = 15 * 60_000
/** Below that a token is not worth a call. */
const shortestUse = 5_000

/** The refreshes of this process, by the server's services: tests run several servers in one process. */
const underWay = new WeakMap<Services, Map<string, Promise<Access>>>()

/** An access token that works for a while. `refused`: the generation that the provider does not take. Throws TokenFailed. */
export async function accessTokenOf(context: TokenContext, key: ConnectionKey, refused?: number): Promise<Access> {
	const { db, services, now } = context
	const row = await findTokenRow(db, key)
	if (!row) throw gone()
	const token = openToken(services.secrets, row)
	if (token && isFresh(row, token, now, refused)) return accessOf(row, token)
	requireReadable(row, token)
	const flights = underWay.get(services) ?? new Map<string, Promise<Access>>()
	underWay.set(services, flights)
	const name = `${key.organizationId} ${key.id} ${row.tokenGeneration}`
	const flight = flights.get(name) ?? refresh(context, key, refused).finally(() => flights.delete(name))
	flights.set(name, flight)
	return flight
}

/** Resolves once no refresh is under way: one outlives a caller who hung up, since the old refresh token may be used up. */
export async function settleRefreshes(services: Services): Promise<void> {
	await Promise.allSettled(underWay.get(services)?.values() ?? [])
}

const accessOf = (row: TokenRow, { accessToken }: StoredToken): Access => ({ accessToken, row })

function isFresh({ tokenGeneration }: TokenRow, { issuedAt, expiresAt }: StoredToken, now: number, refused?: number): boolean {
	if (tokenGeneration === refused) return false
	return expiresAt === null || now < expiresAt - Math.min(longestMargin, (expiresAt - issuedAt) / 5)
}

async function refresh(context: TokenContext, key: ConnectionKey, refused?: number): Promise<Access> {
	const { db, services, now: beganAt } = context
	const began = performance.now()
	const clock = () => beganAt + Math.round(performance.now() - began)
	/** The access token to use, or the row when this process may ask for a new one; undefined while another process does. */
	const look = (row: TokenRow | undefined): Access | TokenRow | undefined => {
		if (!row || row.connection.status === 'disabled') throw gone()
		const now = clock()
		const token = openToken(services.secrets, row)
		if (token && isFresh(row, token, now, refused)) return accessOf(row, token)
		if (row.refreshLeaseUntil === null || row.refreshLeaseUntil <= now) return row
		// While another process asks for a new one, the old one works for the rest of its time.
		const works = token?.expiresAt && token.expiresAt > now + shortestUse && row.tokenGeneration !== refused
		return works ? accessOf(row, token) : undefined
	}
	const claim = () =>
		db.transaction(async (tx) => {
			const found = look(await lockTokenRow(tx, key))
			if (found && 'token' in found) await leaseRefresh(tx, key, found.tokenGeneration, clock() + leaseMs)
			return found
		}, key)
	for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
		// Those who wait take no lock.
		const seen = look(await findTokenRow(db, key))
		const found = seen && 'token' in seen ? await claim() : seen
		if (found && 'token' in found) return replace(context, found, openToken(services.secrets, found), clock)
		if (found) return found
		if (performance.now() - began > giveUpMs)
			throw new TokenFailed('timeout', `Another process of the server got no token within ${giveUpMs / 1000} s.`)
		await sleep(waitMs * (0.5 + Math.random() / 2))
	}
}

/** Asks for a new token, as the one process that may, and stores it. */
async function replace(
	context: TokenContext,
	row: TokenRow,
	token: StoredToken | undefined,
	clock: () => number,
): Promise<Access> {
	const { db, services } = context
	const { tokenGeneration, connection } = row
	/** What is stored by now, if it is not what the refresh began with: somebody authorized the connection anew. */
	const newer = async () => {
		const current = await findTokenRow(db, connection)
		const stored = current && current.tokenGeneration !== tokenGeneration && openToken(services.secrets, current)
		return current && stored ? accessOf(current, stored) : undefined
	}
	try {
		const issuedAt = clock()
		const tokens = await newTokens(services, row, token)
		const access = await db.transaction(async (tx) => {
			const current = await lockTokenRow(tx, connection)
			if (current?.tokenGeneration !== tokenGeneration) return undefined
			const stored = storedOf(tokens, issuedAt, token?.refreshToken)
			const scopes = tokens.scopes && scopeColumns(connection, tokens.scopes)
			await saveToken(tx, services.secrets, connection, stored, { ...scopes, lastRefreshedAt: clock() }, clock())
			return accessOf({ ...current, tokenGeneration: tokenGeneration + 1 }, stored)
		}, connection)
		const found = access ?? (await newer())
		if (!found) throw gone()
		return found
	} catch (error) {
		const found = await newer()
		if (found) return found
		await db.transaction((tx) => leaseRefresh(tx, connection, tokenGeneration, null), connection)
		throw error
	}
}

/** What a token is for, and what is missing of what a connection that a person authorized needs. */
export function scopeColumns(
	connection: Connection,
	granted: readonly string[],
): Pick<Connection, 'grantedScopes' | 'missingScopes'> {
	const needed = connection.authType === 'oauth2' ? manifestOf(connection).objects.flatMap(({ scopes }) => scopes) : []
	return { grantedScopes: [...granted], missingScopes: [...new Set(needed)].filter((scope) => !granted.includes(scope)) }
}

const gone = () => new TokenFailed('not_authorized', 'The connection was deleted, or got other credentials.')

/** The server's fault, and nothing that a caller mends by other credentials: what is sealed is as good as before once the key is back. */
export const credentialsUnreadable = () =>
	new TokenFailed('credentials_lost', 'The server lacks the key with which the credentials of the connection were sealed.')

/** A person would have to authorize anew for another refresh token. */
function requireReadable({ connection, token: sealed }: TokenRow, token: StoredToken | undefined): void {
	if (connection.authType === 'oauth2' && sealed !== null && !token) throw credentialsUnreadable()
}

export const storedOf = (tokens: Tokens, issuedAt: number, refreshToken: string | null = null): StoredToken => ({
	accessToken: tokens.accessToken,
	// A provider that does not rotate answers none.
	refreshToken: tokens.refreshToken ?? refreshToken,
	issuedAt,
	expiresAt: tokens.expiresIn === null ? null : issuedAt + tokens.expiresIn * 1000,
})

/** The credentials and where they go are of one row, since a caller may change both together at any time. */
async function newTokens(services: Services, row: TokenRow, token: StoredToken | undefined): Promise<Tokens> {
	const { connection, credentials } = row
	requireReadable(row, token)
	const manifest = manifestOf(connection)
	if (connection.authType === 'oauth2') {
		const client = serverClient(services, manifest)
		if (!client) throw new TokenFailed('invalid_client', 'The server has no client id and secret for the provider any more.')
		const refreshToken = token?.refreshToken
		if (!refreshToken) throw new TokenFailed('not_authorized', 'The connection is not authorized: begin an authorization.')
		return refreshTokens(services.egress, client, refreshToken)
	}
	const given = openCredentials(services.secrets, connection, credentials)
	if (!given) throw credentialsUnreadable()
	const { clientId = '', clientSecret = '' } = given
	const {
		scopes = manifest.objects.flatMap((object) => object.scopes),
		clientAuthentication,
		tokenParameters,
		...config
	} = connection.config
	const tokenUrl = config.tokenUrl ?? urlsOf(services, manifest).tokenUrl
	const authentication = clientAuthentication ?? manifest.oauth?.authentication ?? 'basic'
	return clientTokens(services.egress, { clientId, clientSecret, tokenUrl, authentication }, scopes, tokenParameters)
}

/** Where a provider authorizes and gives tokens. */
export function urlsOf(services: Services, { id, oauth }: Manifest) {
	const { tokenUrl, authorizationUrl } = services.providerSettings(id)
	return {
		tokenUrl: tokenUrl || (oauth?.tokenUrl ?? ''),
		authorizationUrl: authorizationUrl || (oauth?.authorizationUrl ?? ''),
	}
}

/** The client of this server at a provider; undefined when the operator set none. */
export function serverClient(services: Services, manifest: Manifest): (OAuthClient & { revocationUrl: string }) | undefined {
	const { clientId, clientSecret } = services.providerSettings(manifest.id)
	const { oauth } = manifest
	if (!oauth || !clientId || !clientSecret) return undefined
	const { tokenUrl } = urlsOf(services, manifest)
	const revocationUrl = new URL(oauth.revocationPath, tokenUrl).href
	return { clientId, clientSecret, tokenUrl, authentication: oauth.authentication, revocationUrl }
}

const revocationMs = 5_000

/** Asks the provider to forget what a deleted connection had. It is gone here in any case. */
export async function revoke(services: Services, connection: Connection, token: StoredToken): Promise<void> {
	const client = connection.authType === 'oauth2' && serverClient(services, manifestOf(connection))
	if (client) await revokeToken(services.egress, client, token.refreshToken ?? token.accessToken, revocationMs).catch(() => {})
}

const revokedAtOnce = 8

/** As `revoke`, for all connections of an organization that is erased. */
export async function revokeAll(services: Services, rows: readonly TokenRow[]): Promise<void> {
	for (let from = 0; from < rows.length; from += revokedAtOnce)
		await Promise.all(
			rows.slice(from, from + revokedAtOnce).map(async (row) => {
				const token = openToken(services.secrets, row)
				if (token) await revoke(services, row.connection, token)
			}),
		)
}
