// The access tokens that a fake vendor takes, and its endpoints of OAuth 2.
import { createHash } from 'node:crypto'
import { secret } from '../leaks.ts'
import { type Call, formOf, headerOf, Refusal, type Reply } from './reply.ts'

interface Access {
	readonly expiresAt: number
	calls: number
	readonly grant: Grant | null
}

interface Grant {
	/** The refresh token that is valid; null for a grant without. */
	refreshToken: string | null
	/** The one that it replaced. */
	before: string | null
	usedAt: number
	isRevoked: boolean
	readonly challenge: string | null
	readonly canRefresh: boolean
}

export interface TokenRules {
	readonly now: () => number
	/** Whether a refresh token is replaced at each use; to use an old one then revokes the whole family. */
	readonly rotates: boolean
	readonly lifetimeMs: number
	/** After so long without use a refresh token ends. */
	readonly idleMs: number
	/** So long after it was replaced a refresh token still brings a new one, for a client that lost the answer. */
	readonly graceMs?: number
	/** Each access token ends after so many calls. */
	readonly callsPerToken?: number
	/** What the answer of the token endpoint has besides. */
	readonly extra?: Readonly<Record<string, unknown>>
}

const refuse = (error: string, error_description?: string): never => {
	throw new Refusal({ status: 400, json: { error, ...(error_description && { error_description }) } })
}

export class Tokens {
	readonly client = { id: 'remit-client', secret: secret('of-the-client') }
	/** Replaced by a test that wants shorter lives. */
	rules: TokenRules
	readonly #access = new Map<string, Access>()
	/** All refresh tokens that there ever were. */
	readonly #grants = new Map<string, Grant>()
	readonly #codes = new Map<string, Grant>()
	#made = 0

	constructor(rules: TokenRules) {
		this.rules = rules
	}

	/** Takes this token, until it expires or has been used so often. */
	allow(token: string, { expiresAt = Number.POSITIVE_INFINITY, calls = Number.POSITIVE_INFINITY } = {}): void {
		this.#access.set(token, { expiresAt, calls, grant: null })
	}

	forbid(token: string): void {
		this.#access.delete(token)
	}

	/** What a person's consent brings; a number of calls ends the access token early. */
	grant({ calls }: { calls?: number } = {}): { accessToken: string; refreshToken: string } {
		const { access_token, refresh_token } = this.#issue(this.#newGrant(), calls)
		return { accessToken: access_token, refreshToken: refresh_token as string }
	}

	/** Access tokens of grants are valid no more; their refresh tokens are. */
	expire(): void {
		for (const [token, access] of this.#access) if (access.grant) this.#access.set(token, { ...access, expiresAt: 0 })
	}

	/** All that came of this refresh token is void, as when a person disconnects the app. */
	revoke(refreshToken: string): void {
		const grant = this.#grants.get(refreshToken)
		if (grant) grant.isRevoked = true
	}

	/** Counts a call by this token. */
	check(token: string | undefined): 'valid' | 'expired' | 'unknown' {
		const access = this.#access.get(token ?? '')
		if (!access || access.grant?.isRevoked) return 'unknown'
		if (access.expiresAt <= this.rules.now() || access.calls <= 0) return 'expired'
		access.calls--
		return 'valid'
	}

	/** Lets everybody in at once: a person who says yes. */
	authorize({ query }: Call): Reply {
		const back = new URL(query.get('redirect_uri') ?? refuse('invalid_request'))
		if (query.get('client_id') !== this.client.id) refuse('invalid_client')
		const code = `code-${++this.#made}`
		this.#codes.set(code, this.#newGrant(query.get('code_challenge')))
		back.searchParams.set('code', code)
		back.searchParams.set('state', query.get('state') ?? '')
		return { status: 302, headers: { location: back.href } }
	}

	token(call: Call): Reply {
		const form = formOf(call)
		this.#authenticate(call, form)
		const grant = this.#grantOf(form)
		return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ...this.#issue(grant), ...this.rules.extra } }
	}

	revocation(call: Call): Reply {
		const form = formOf(call)
		this.#authenticate(call, form)
		const token = form.get('token') ?? ''
		this.revoke(token)
		this.forbid(token)
		return { status: 200, json: {} }
	}

	introspection(call: Call): Reply {
		const form = formOf(call)
		this.#authenticate(call, form)
		const token = form.get('token') ?? ''
		const access = this.#access.get(token)
		const grant = access ? access.grant : this.#grants.get(token)
		const isActive = access ? access.expiresAt > this.rules.now() : grant?.refreshToken === token
		const json =
			isActive && !grant?.isRevoked ? { active: true, client_id: this.client.id, ...this.rules.extra } : { active: false }
		return { status: 200, json }
	}

	#authenticate(call: Call, form: URLSearchParams): void {
		const [, basic = ''] = /^Basic (.+)$/.exec(headerOf(call, 'authorization') ?? '') ?? []
		const [id, secret] = basic
			? Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
			: [form.get('client_id'), form.get('client_secret')]
		if (id !== this.client.id || secret !== this.client.secret) refuse('invalid_client')
	}

	#grantOf(form: URLSearchParams): Grant {
		switch (form.get('grant_type')) {
			case 'refresh_token':
				return this.#refresh(form.get('refresh_token') ?? '')
			case 'authorization_code':
				return this.#redeem(form.get('code') ?? '', form.get('code_verifier'))
			case 'client_credentials':
				return { ...this.#newGrant(), canRefresh: false }
			default:
				return refuse('unsupported_grant_type')
		}
	}

	#refresh(token: string): Grant {
		const grant = this.#grants.get(token)
		const isIdle = grant && this.rules.now() - grant.usedAt > this.rules.idleMs
		if (!grant || grant.isRevoked || isIdle) return refuse('invalid_grant', 'The refresh token is not valid.')
		const isInGrace = grant.before === token && this.rules.now() - grant.usedAt < (this.rules.graceMs ?? 0)
		if (grant.refreshToken !== token && !isInGrace) {
			grant.isRevoked = true
			return refuse('invalid_grant', 'The refresh token was used before.')
		}
		return grant
	}

	#redeem(code: string, verifier: string | null): Grant {
		const grant = this.#codes.get(code)
		this.#codes.delete(code)
		const challenge = createHash('sha256')
			.update(verifier ?? '')
			.digest('base64url')
		if (!grant || (grant.challenge !== null && grant.challenge !== challenge)) return refuse('invalid_grant')
		return grant
	}

	#newGrant(challenge: string | null = null): Grant {
		return { refreshToken: null, before: null, usedAt: this.rules.now(), isRevoked: false, challenge, canRefresh: true }
	}

	#issue(grant: Grant, calls = this.rules.callsPerToken ?? Number.POSITIVE_INFINITY) {
		const now = this.rules.now()
		const accessToken = secret(`access-${++this.#made}`)
		this.#access.set(accessToken, { expiresAt: now + this.rules.lifetimeMs, calls, grant })
		const answer = { access_token: accessToken, expires_in: Math.floor(this.rules.lifetimeMs / 1000), token_type: 'Bearer' }
		if (!grant.canRefresh) return { ...answer, refresh_token: undefined }
		if (grant.refreshToken === null || this.rules.rotates) {
			grant.before = grant.refreshToken
			grant.refreshToken = secret(`refresh-${++this.#made}`)
		}
		this.#grants.set(grant.refreshToken, grant)
		grant.usedAt = now
		return { ...answer, refresh_token: grant.refreshToken }
	}
}
