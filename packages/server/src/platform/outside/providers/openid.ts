// Signing in at the server's OpenID Connect provider: openid-client, over the guarded calls of json-call.ts.
import type { Configuration, IDToken, UserInfoResponse } from 'openid-client'
import { nearestName } from '../../contract/formats.ts'
import type { Egress } from '../egress.ts'
import type { OpenIdSettings } from '../services.ts'
import { failureOf, guardedFetch, type Library, random, TokenFailed } from './oauth.ts'

/** What the browser brings back, beside what the provider gives it. */
export interface SignInChecks {
	readonly state: string
	readonly nonce: string
	/** Proves to the provider that who exchanges the code began the sign-in (PKCE). */
	readonly verifier: string
}

/** Who signed in at the provider. */
export interface Identity {
	readonly issuer: string
	readonly subject: string
	/** In small letters; null unless the provider has verified it. */
	readonly email: string | null
	/** Null where the provider does not say. */
	readonly name: string | null
}

/** A visitor waits for it. */
const timeoutMs = 10_000
/** The keys of the provider are read again by themselves when one is unknown; its addresses after this time. */
const knownMs = 3_600_000

export class OpenIdProvider {
	readonly #egress: Egress
	readonly #settings: OpenIdSettings
	#known: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined

	constructor(egress: Egress, settings: OpenIdSettings) {
		this.#egress = egress
		this.#settings = settings
	}

	/** Where a browser goes to sign in; throws TokenFailed when the provider cannot be reached. */
	async begin(redirectUri: string): Promise<{ url: string; checks: SignInChecks }> {
		const library = await load()
		const configuration = await this.#configuration(library)
		const checks = { state: random(), nonce: random(), verifier: random() }
		const url = library.buildAuthorizationUrl(configuration, {
			redirect_uri: redirectUri,
			scope: 'openid email profile',
			state: checks.state,
			nonce: checks.nonce,
			code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
			code_challenge_method: 'S256',
		})
		return { url: url.href, checks }
	}

	/** Who came back at `url`; throws TokenFailed, of the code `authorization_denied` when the provider let nobody in. */
	async finish(url: URL, { state, nonce, verifier }: SignInChecks): Promise<Identity> {
		const library = await load()
		const configuration = await this.#configuration(library)
		try {
			const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
			const tokens = await library.authorizationCodeGrant(configuration, url, checks)
			const claims = tokens.claims() as IDToken
			// Many providers have the address in the answer about the person alone.
			const isAsked = claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
			const asked = isAsked && (await library.fetchUserInfo(configuration, tokens.access_token, claims.sub))
			return identityOf({ ...claims, ...asked, iss: claims.iss })
		} catch (error) {
			throw failureOf(library, error, 'invalid_client')
		}
	}

	/** What the provider says of itself. */
	async #configuration(library: Library): Promise<Configuration> {
		const now = performance.now()
		if (!this.#known || now - this.#known.at > knownMs) this.#known = { at: now, configuration: this.#discover(library) }
		const { configuration } = this.#known
		try {
			return await configuration
		} catch (error) {
			this.#known = undefined
			throw failureOf(library, error, 'invalid_client')
		}
	}

	#discover(library: Library): Promise<Configuration> {
		const { issuer, clientId, clientSecret } = this.#settings
		// Whether a URL may be called is what egress decides.
		const execute = [...(issuer.startsWith('http:') ? [library.allowInsecureRequests] : []), library.enableNonRepudiationChecks]
		return library.discovery(new URL(issuer), clientId, undefined, library.ClientSecretBasic(clientSecret), {
			execute,
			[library.customFetch]: guardedFetch(this.#egress, timeoutMs, true),
		})
	}
}

/** Loaded where somebody uses it: it would cost every start. */
const load = () => import('openid-client')

/** OpenID Connect Core §2: at most 255 ASCII characters. */
const subjectForm = /^[!-~]{1,255}$/
const emailForm = /^[^\s\p{C}]{1,254}$/u

function identityOf({ iss, sub, email, email_verified, name }: IDToken & Partial<UserInfoResponse>): Identity {
	if (!subjectForm.test(sub))
		throw new TokenFailed('invalid_answer', 'The provider named a person in a way that OpenID Connect has not.')
	// Some write `true` as a text.
	const isVerified = typeof email === 'string' && emailForm.test(email) && String(email_verified) === 'true'
	const shown = typeof name === 'string' ? nearestName(name) : undefined
	return { issuer: iss, subject: sub, email: isVerified ? inSmallLetters(email) : null, name: shown ?? null }
}

/** Of ASCII alone: other letters become those of somebody else's address, as the sign of Kelvin becomes a k. */
const inSmallLetters = (email: string) => email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
