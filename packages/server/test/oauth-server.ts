// A real OAuth 2 server for tests, at the paths of Xero, with a person who lets everybody in or nobody.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type KoaContextWithOIDC } from 'oidc-provider'
import { secret } from './leaks.ts'

export const client = { id: 'remit-client', secret: secret('of-the-client') }

const scopes = ['offline_access', 'accounting.contacts', 'accounting.invoices', 'accounting.payments']

export class OAuthServer {
	/** What the person does. */
	lets: 'in' | 'nobody in' = 'in'
	/** The grant types of all requests for tokens, and the revocations. */
	readonly asked: string[] = []
	/** Answers requests for tokens with this status instead. */
	status: number | undefined
	/** Awaited before a request for a token is answered. */
	before: () => Promise<unknown> = async () => {}
	#provider: Provider | undefined
	readonly #server: Server

	constructor() {
		this.#server = createServer(async (req, res) => {
			if (!this.#provider) return res.writeHead(503).end()
			if (req.url?.startsWith('/interaction/')) return this.#interact(req, res)
			if (req.url === '/connect/token') await this.before()
			if (req.url === '/connect/token' && this.status !== undefined) return res.writeHead(this.status).end()
			return this.#provider.callback()(req, res)
		})
	}

	async start(): Promise<this> {
		this.#server.listen(0, '127.0.0.1')
		await once(this.#server, 'listening')
		return this
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
	}

	get settings() {
		return {
			PROVIDER_XERO_CLIENT_ID: client.id,
			PROVIDER_XERO_CLIENT_SECRET: client.secret,
			PROVIDER_XERO_AUTHORIZATION_URL: `${this.url}/identity/connect/authorize`,
			PROVIDER_XERO_TOKEN_URL: `${this.url}/connect/token`,
		}
	}

	/** Knows the client, which people come back to at these URLs. */
	serve(redirectUris: string[]): void {
		const provider = new Provider(this.url, {
			clients: [
				{
					client_id: client.id,
					client_secret: client.secret,
					redirect_uris: redirectUris,
					grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
				},
			],
			scopes,
			routes: { authorization: '/identity/connect/authorize', token: '/connect/token', revocation: '/connect/revocation' },
			features: {
				devInteractions: { enabled: false },
				clientCredentials: { enabled: true },
				revocation: { enabled: true },
			},
			pkce: { required: () => true },
			issueRefreshToken: async () => true,
			rotateRefreshToken: true,
			ttl: { AccessToken: 1800, ClientCredentials: 1800, RefreshToken: 86_400, Grant: 86_400, Session: 3600, Interaction: 600 },
			findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
			interactions: { url: (_, { uid }) => `/interaction/${uid}` },
			cookies: { keys: ['a key for tests'] },
		})
		for (const { prototype } of [provider.AccessToken, provider.ClientCredentials, provider.RefreshToken]) {
			const { generateTokenId } = prototype as unknown as { generateTokenId(): string }
			Object.assign(prototype, {
				generateTokenId() {
					return secret(generateTokenId.call(this))
				},
			})
		}
		provider.use(async (context: KoaContextWithOIDC, next: () => Promise<void>) => {
			await next()
			const { route, params } = context.oidc ?? {}
			if (route === 'token') this.asked.push(String(params?.grant_type))
			if (route === 'revocation') this.asked.push('revocation')
		})
		this.#provider = provider
	}

	async #interact(...[req, res]: Parameters<Provider['interactionDetails']>): Promise<void> {
		const provider = this.#provider as Provider
		const { prompt, params, session } = await provider.interactionDetails(req, res)
		if (this.lets === 'nobody in') return provider.interactionFinished(req, res, { error: 'access_denied' })
		if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: 'ada' } })
		const grant = new provider.Grant({ accountId: session?.accountId ?? 'ada', clientId: params.client_id as string })
		grant.addOIDCScope(scopes.join(' '))
		await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } })
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections()
		this.#server.close()
		await once(this.#server, 'close')
	}
}

/** Follows redirects as a browser does, and keeps cookies; returns the URL at `until`, which it does not open. */
export async function browse(url: string, until: string, cookies = new Map<string, string>()): Promise<string> {
	let at = url
	for (let steps = 0; steps < 10; steps++) {
		const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
		const answer = await fetch(at, { redirect: 'manual', headers: { cookie } })
		for (const set of answer.headers.getSetCookie()) {
			const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
			cookies.set(name, value)
		}
		const location = answer.headers.get('location')
		if (location === null) throw new Error(`${at} answered ${answer.status}: ${await answer.text()}`)
		at = new URL(location, at).href
		if (at.startsWith(until)) return at
	}
	throw new Error(`${url} does not lead to ${until}`)
}

/** Opens the page to which the provider leads, and says yes when it asks. */
export async function consent(url: string): Promise<{ status: number; text: string }> {
	const answer = await fetch(url, { redirect: 'manual' })
	const text = await answer.text()
	if (!text.includes('<form')) return { status: answer.status, text }
	const action = (/action="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll(/&#(\d+);|&amp;/g, (_, code) =>
		String.fromCharCode(code ?? 38),
	)
	const target = new URL(action, url)
	const done = await fetch(target, { method: 'POST', redirect: 'manual' })
	return { status: done.status, text: await done.text() }
}
