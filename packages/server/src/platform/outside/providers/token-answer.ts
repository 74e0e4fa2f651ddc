// What an endpoint for tokens answers, as OAuth has it (RFC 6749 §5). Providers write null or '' for nothing, scopes as a list, and 201 for 200; they
// leave out what goes without saying, write the time as a text or a date, and answer an error with 200.
import type { ConnectionErrorCode } from '../../../generated/contract.ts'

/** The provider gave no token. The message is for the API's caller. */
export class TokenFailed extends Error {
	readonly code: ConnectionErrorCode

	constructor(code: ConnectionErrorCode, message: string, cause?: unknown) {
		super(message, { cause })
		this.code = code
	}
}

type Json = Readonly<Record<string, unknown>>

/** Visible characters and blanks (RFC 6749 Appendix A), so that a header can have it. */
const tokenForm = /^[ -~]{1,16384}$/
/** ConnectionScope of the contract. */
const scopeForm = /^[!#-[\]-~]{1,200}$/
const mostScopes = 100

const isNothing = (value: unknown) => value === undefined || value === null || value === ''

export const scopesOf = (scope: string): string[] => [...new Set(scope.split(/[ \t]/).filter(Boolean))]

/** The answer as openid-client reads it. `hasIdentity`: who it is about is asked for, and not only a token. Throws TokenFailed, which names the field at fault. */
export function asOAuth(status: number, text: string, hasIdentity: boolean): { readonly status: number; readonly text: string } {
	const json = objectIn(text)
	const isOk = status >= 200 && status < 300
	if (typeof json?.error === 'string' && (!isOk || isNothing(json.access_token))) return { status: isOk ? 400 : status, text }
	if (status === 401) throw new TokenFailed('unauthorized', 'The provider answered 401 to a request for a token.')
	if (!isOk) throw new TokenFailed('invalid_answer', `The provider answered ${status} to a request for a token.`)
	if (!json) throw new TokenFailed('invalid_answer', 'The provider answered a request for a token with no JSON object.')
	return { status: 200, text: JSON.stringify(readGrant(json, hasIdentity)) }
}

function objectIn(text: string): Json | undefined {
	try {
		const json: unknown = JSON.parse(text)
		return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Json) : undefined
	} catch {
		return undefined
	}
}

function readGrant(json: Json, hasIdentity: boolean) {
	const { access_token, refresh_token, token_type, expires_in, scope, id_token } = json
	requireThat(isToken(access_token), 'access_token', 'is no text of 1 to 16,384 visible characters')
	const isBearer = isNothing(token_type) || (typeof token_type === 'string' && token_type.toLowerCase() === 'bearer')
	requireThat(isBearer, 'token_type', 'is not Bearer')
	requireThat(
		isNothing(refresh_token) || isToken(refresh_token),
		'refresh_token',
		'is no text of at most 16,384 visible characters',
	)
	return {
		access_token,
		token_type: 'Bearer',
		...(!isNothing(refresh_token) && { refresh_token }),
		...readTime(expires_in),
		...readScope(scope),
		// Of a token alone nobody reads it, and nobody has to be able to.
		...(hasIdentity && !isNothing(id_token) && { id_token }),
	}
}

const isToken = (value: unknown) => typeof value === 'string' && tokenForm.test(value)

/** What is no number of seconds, such as a date, says as little of the time as nothing does. */
function readTime(value: unknown): { readonly expires_in?: number } {
	const seconds = typeof value === 'string' ? Number(/^\s*(\d+(?:\.\d+)?)\s*s?\s*$/.exec(value)?.[1]) : value
	return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? { expires_in: seconds } : {}
}

function readScope(value: unknown): { readonly scope?: string } {
	if (value === undefined || value === null) return {}
	const texts: unknown[] = Array.isArray(value) ? value : [value]
	requireThat(
		texts.every((text) => typeof text === 'string'),
		'scope',
		'is neither a text nor a list of texts',
	)
	const scope = texts.join(' ')
	const scopes = scopesOf(scope)
	requireThat(scopes.length <= mostScopes, 'scope', `has more than ${mostScopes} scopes`)
	requireThat(
		scopes.every((name) => scopeForm.test(name)),
		'scope',
		'has a scope that is longer than 200 characters, or not of OAuth',
	)
	return { scope }
}

function requireThat(isRight: boolean, field: string, what: string): void {
	if (!isRight) throw new TokenFailed('invalid_answer', `The provider answered a token whose ${field} ${what}.`)
}
