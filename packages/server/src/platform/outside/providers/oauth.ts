// OAuth 2 with providers of connections: openid-client, over the guarded calls of json-call.ts.
import { hash, randomBytes } from 'node:crypto'
import type { Configuration, CustomFetch, TokenEndpointResponse } from 'openid-client'
import type { ConnectionErrorCode } from '../../../generated/contract.ts'
import type { Egress } from '../egress.ts'
import { CallFailed, call } from './json-call.ts'
import { asOAuth, scopesOf, TokenFailed } from './token-answer.ts'

export { TokenFailed } from './token-answer.ts'

export interface OAuthClient {
	readonly tokenUrl: string
	readonly clientId: string
	readonly clientSecret: string
	/** How it proves who it is: in the body, or in the Authorization header. */
	readonly authentication: 'body' | 'basic'
}

export interface Tokens {
	readonly accessToken: string
	readonly refreshToken: string | null
	/** For how many whole seconds the access token works; null where the provider does not say, or says more than ten years. */
	readonly expiresIn: number | null
	/** At most 100, each once; null where the provider does not say. */
	readonly scopes: readonly string[] | null
}

/** How long one call may take. */
export const tokenTimeoutMs = 20_000

const maxBytes = 256 * 1024

/** 256 random bits. */
export const random = () => randomBytes(32).toString('base64url')

export const hashOfState = (state: string) => hash('sha256', state, 'base64url')

export interface Authorization {
	readonly url: string
	readonly state: string
	/** Proves to the provider that who exchanges the code began the authorization (PKCE). */
	readonly verifier: string
}

export function beginAuthorization(
	authorizationUrl: string,
	{ clientId, redirectUri, scopes }: { clientId: string; redirectUri: string; scopes: readonly string[] },
): Authorization {
	const [state, verifier] = [random(), random()]
	const url = new URL(authorizationUrl)
	const parameters = {
		response_type: 'code',
		client_id: clientId,
		redirect_uri: redirectUri,
		scope: scopes.join(' '),
		state,
		code_challenge: hash('sha256', verifier, 'base64url'),
		code_challenge_method: 'S256',
	}
	for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
	return { url: url.href, state, verifier }
}

/** Exchanges the code that the provider gave the browser. `url` is where the browser came back to. */
export const exchangeCode = (egress: Egress, client: OAuthClient, url: URL, checks: Pick<Authorization, 'state' | 'verifier'>) =>
	ask(egress, client, 'invalid_client', ({ authorizationCodeGrant }, configuration) =>
		authorizationCodeGrant(configuration, url, { expectedState: checks.state, pkceCodeVerifier: checks.verifier }),
	)

export const refreshTokens = (egress: Egress, client: OAuthClient, refreshToken: string) =>
	ask(egress, client, 'invalid_client', ({ refreshTokenGrant }, configuration) => refreshTokenGrant(configuration, refreshToken))

/** The client is the connection's own: where the provider does not take it, the connection's credentials are wrong. */
export const clientTokens = (
	egress: Egress,
	client: OAuthClient,
	scopes: readonly string[],
	/** Further fields of the request. */
	parameters: Readonly<Record<string, string>> = {},
) =>
	ask(egress, client, 'unauthorized', ({ clientCredentialsGrant }, configuration) =>
		clientCredentialsGrant(configuration, { ...parameters, ...(scopes.length > 0 && { scope: scopes.join(' ') }) }),
	)

/** Asks the provider to revoke a token; throws when it does not within the time. */
export async function revokeToken(
	egress: Egress,
	client: OAuthClient & { readonly revocationUrl: string },
	token: string,
	timeoutMs: number,
): Promise<void> {
	const library = await import('openid-client')
	await library.tokenRevocation(configure(library, egress, client, timeoutMs), token)
}

export type Library = typeof import('openid-client')

async function ask(
	egress: Egress,
	client: OAuthClient,
	/** What it is called that the provider does not take the client. */
	clientFailure: ConnectionErrorCode,
	grant: (library: Library, configuration: Configuration) => Promise<TokenEndpointResponse>,
): Promise<Tokens> {
	// Loaded where somebody uses it: it would cost every start.
	const library = await import('openid-client')
	try {
		const answer = await grant(library, configure(library, egress, client, tokenTimeoutMs))
		return tokensOf(answer)
	} catch (error) {
		throw failureOf(library, error, clientFailure)
	}
}

const tokensOf = ({ access_token, refresh_token, expires_in, scope }: TokenEndpointResponse): Tokens => ({
	accessToken: access_token,
	refreshToken: refresh_token ?? null,
	expiresIn: secondsOf(expires_in),
	scopes: scope === undefined ? null : scopesOf(scope),
})

const longestSeconds = 10 * 365 * 86_400

const secondsOf = (seconds = Number.POSITIVE_INFINITY) => (seconds > longestSeconds ? null : Math.floor(seconds))

function configure(
	library: Library,
	egress: Egress,
	client: OAuthClient & { readonly revocationUrl?: string },
	timeoutMs: number,
): Configuration {
	const { tokenUrl, clientId, clientSecret, authentication, revocationUrl } = client
	const server = {
		// Who answers the browser names itself so (RFC 9207), if it does.
		issuer: new URL(tokenUrl).origin,
		token_endpoint: tokenUrl,
		...(revocationUrl !== undefined && { revocation_endpoint: revocationUrl }),
	}
	const proof = authentication === 'basic' ? library.ClientSecretBasic(clientSecret) : library.ClientSecretPost(clientSecret)
	const configuration = new library.Configuration(server, clientId, undefined, proof)
	// Whether a URL may be called is what egress decides.
	if (tokenUrl.startsWith('http:')) library.allowInsecureRequests(configuration)
	configuration[library.customFetch] = guardedFetch(egress, timeoutMs)
	return configuration
}

/** `hasIdentity`: whether answers say who somebody is, and not only a token. */
export const guardedFetch =
	(egress: Egress, timeoutMs: number, hasIdentity = false): CustomFetch =>
	async (url, { method, headers, body, signal }) => {
		const sent = { method: method as 'POST', url, headers, body: String(body ?? '') }
		const answer = await call(egress, sent, { timeoutMs, maxBytes, signal: signal ?? undefined })
		const { status, text } = answer
		if (status === 429) throw new TokenFailed('rate_limited', 'The provider answered 429 to a request for a token.')
		if (status >= 500) throw new TokenFailed('provider_failed', `The provider answered ${status} to a request for a token.`)
		if (body instanceof URLSearchParams && body.has('grant_type')) {
			const read = asOAuth(status, text, hasIdentity)
			return new Response(read.text, { status: read.status, headers: { 'content-type': 'application/json' } })
		}
		const type = answer.headers['content-type'] ?? ''
		return new Response(status === 204 ? null : text, { status, headers: { 'content-type': type } })
	}

export function failureOf(library: Library, error: unknown, clientFailure: ConnectionErrorCode): TokenFailed {
	for (let cause = error; cause instanceof Error; cause = cause.cause) {
		if (cause instanceof TokenFailed) return cause
		if (cause instanceof CallFailed) return new TokenFailed(cause.code, cause.message, error)
	}
	if (error instanceof library.AuthorizationResponseError)
		return new TokenFailed('authorization_denied', `The provider did not let Remit in${said(error.error)}.`, error)
	if (error instanceof library.ResponseBodyError) {
		const code = codes.get(error.error) ?? 'provider_failed'
		const message = `The provider gave no token${said(error.error)}.`
		return new TokenFailed(code === 'invalid_client' ? clientFailure : code, message, error)
	}
	return new TokenFailed('invalid_answer', 'The answer of the provider is not one of OAuth.', error)
}

/** What the errors of RFC 6749 §5.2 say of credentials; all others say nothing of them. */
const codes: ReadonlyMap<string, ConnectionErrorCode> = new Map([
	['invalid_grant', 'unauthorized'],
	['invalid_client', 'invalid_client'],
	['unauthorized_client', 'invalid_client'],
])

/** The codes of RFC 6749 are short words; anything else is not repeated. */
const said = (code: string) => (/^[a-z_]{1,40}$/.test(code) ? `: ${code}` : '')
