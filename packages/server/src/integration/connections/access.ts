// What proves to a provider who a connection is, and where its calls go.
import type { Connection, ConnectionCredentials } from '../../generated/contract.ts'
import { CallFailed } from '../../platform/outside/providers/json-call.ts'
import { TokenFailed } from '../../platform/outside/providers/oauth.ts'
import type { Services } from '../../platform/outside/services.ts'
import { outside, staysBelow } from './object-rules.ts'
import type { Manifest } from './providers/manifest.ts'
import { openCredentials } from './store.ts'
import { openToken, type TokenRow } from './token-store.ts'
import { accessTokenOf, credentialsUnreadable, type TokenContext } from './tokens.ts'

export interface Proof {
	/** The connection that is proven, which says where the proof may go. */
	readonly row: TokenRow
	readonly headers: Readonly<Record<string, string>>
	/** Every text that no message may have in it. */
	readonly secrets: readonly string[]
}

/**
 * Calls `send` with what proves a connection. A token that the provider takes no more, whatever it said of its time, is replaced once. Throws
 * TokenFailed where there is no proof.
 */
export async function withProof<A>(
	context: TokenContext,
	row: TokenRow,
	send: (proof: Proof) => Promise<A>,
	isRefused: (answer: A) => boolean,
): Promise<A> {
	const { connection } = row
	const given = openCredentials(context.services.secrets, connection, row.credentials)
	if (connection.authType !== 'oauth2' && connection.authType !== 'client_credentials') {
		if (!given) throw credentialsUnreadable()
		if (given.apiKey === undefined && given.username === undefined)
			throw new TokenFailed('not_authorized', 'The connection has no credentials yet: set them, or make a link for who has them.')
		const headers = headersOf(connection, given)
		return send({ row, headers, secrets: [...Object.values(given), ...Object.values(headers)] })
	}
	const sendWith = async (refused?: number) => {
		const access = await accessTokenOf(context, connection, refused)
		const token = openToken(context.services.secrets, access.row)
		const secrets = [...Object.values(given ?? {}), access.accessToken, token?.refreshToken ?? ''].filter(Boolean)
		const answer = await send({ row: access.row, headers: { authorization: `Bearer ${access.accessToken}` }, secrets })
		return { answer, generation: access.row.tokenGeneration }
	}
	const { answer, generation } = await sendWith()
	return isRefused(answer) ? (await sendWith(generation)).answer : answer
}

function headersOf(
	{ config }: Connection,
	{ apiKey = '', username, password }: ConnectionCredentials,
): Readonly<Record<string, string>> {
	if (username !== undefined) return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
	return config.apiKeyHeader === undefined ? { authorization: `Bearer ${apiKey}` } : { [config.apiKeyHeader]: apiKey }
}

/** The URL that paths are added to, without a slash at its end. */
export const baseUrlOf = (services: Services, { id, baseUrl }: Manifest, { config }: Connection): string =>
	(config.baseUrl ?? (services.providerSettings(id).baseUrl || baseUrl)).replace(/\/$/, '')

/** The URL of a path below a base URL; throws CallFailed for a path that leads out of it. */
export function urlBelow(base: string, path: string): URL {
	if (!staysBelow(path)) throw new CallFailed('unsafe_url', outside)
	return new URL(base + path)
}
