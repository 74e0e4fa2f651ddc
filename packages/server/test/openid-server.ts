// A real OpenID Connect provider for tests, where one person is signed in, or nobody.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type KoaContextWithOIDC } from 'oidc-provider'
import { secret } from './leaks.ts'

const client = { id: 'remit', secret: secret('of-the-openid-client') }

export interface ProviderPerson {
	readonly sub: string
	readonly email?: string
	readonly email_verified?: boolean
	readonly name?: string
}

export class OpenIdServer {
	/** Who is there; undefined: they let nobody in. */
	person: ProviderPerson | undefined
	/** What its answers with a token have besides, or in place of what they had. */
	tokenChange: object = {}
	/** Answers everything with 503. */
	isAway = false
	#provider: Provider | undefined
	readonly #server: Server

	constructor() {
		this.#server = createServer(async (req, res) => {
			if (!this.#provider || this.isAway) return res.writeHead(503).end()
			if (req.url?.startsWith('/interaction/')) return this.#interact(this.#provider, req, res)
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
		return { OIDC_ISSUER: this.url, OIDC_CLIENT_ID: client.id, OIDC_CLIENT_SECRET: client.secret }
	}

	/** Knows the client of the server at this URL. */
	serve(baseUrl: string): void {
		this.#provider = new Provider(this.url, {
			clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [`${baseUrl}/openid/callback`] }],
			claims: { email: ['email', 'email_verified'], profile: ['name'] },
			features: { devInteractions: { enabled: false } },
			pkce: { required: () => true },
			ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Grant: 600, Session: 600, Interaction: 600 },
			findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...this.person, sub }) }),
			interactions: { url: (_, { uid }) => `/interaction/${uid}` },
			cookies: { keys: ['a key for tests'] },
		})
		this.#provider.use(async (context: KoaContextWithOIDC, next: () => Promise<void>) => {
			await next()
			if (context.oidc?.route === 'token') context.body = { ...(context.body as object), ...this.tokenChange }
		})
	}

	async #interact(provider: Provider, ...[req, res]: Parameters<Provider['interactionDetails']>): Promise<void> {
		const { prompt, session } = await provider.interactionDetails(req, res)
		if (!this.person) return provider.interactionFinished(req, res, { error: 'access_denied' })
		const { sub: accountId } = this.person
		if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId } })
		const grant = new provider.Grant({ accountId: session?.accountId ?? accountId, clientId: client.id })
		grant.addOIDCScope('openid email profile')
		await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } })
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections()
		this.#server.close()
		await once(this.#server, 'close')
	}
}
