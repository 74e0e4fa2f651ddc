// Whose account takes an organization's payments: its own, or else the server's, unless the operator keeps that to themselves.
import { ApiError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import { findCredentials, openCredentials } from './payment-credentials-store.ts'
import type { StripeSecrets } from './payments/open.ts'
import { type PaymentProcessor, stripePages } from './payments/processor.ts'
import type { Secrets } from './secrets.ts'

/** Clients of Stripe that are kept open, each with its own sockets. */
const maxClients = 100

export interface AccountSettings {
	/** The server's own processor. */
	readonly server: PaymentProcessor | undefined
	/** Whether organizations without an account of their own use the server's. */
	readonly fallback: boolean
	readonly secrets: Secrets
	open(secrets: StripeSecrets): Promise<PaymentProcessor>
}

export class PaymentAccounts {
	/** The server's own processor, whose webhooks and pages stand apart from those of organizations. */
	readonly server: PaymentProcessor | undefined
	readonly #settings: AccountSettings
	/** By organization and sealed text, so that new keys are a new client; the one that was used last is at the end. */
	readonly #clients = new Map<string, Promise<PaymentProcessor>>()

	constructor(settings: AccountSettings) {
		this.server = settings.server
		this.#settings = settings
	}

	/** The name of the account for new payment links, which this does not open; undefined when the organization takes no payments. */
	async nameOf(db: Db, organizationId: string): Promise<PaymentProcessor['name'] | undefined> {
		if (await findCredentials(db, organizationId)) return 'stripe:organization'
		return this.#settings.fallback ? this.server?.name : undefined
	}

	/** The origins of the pages of an account. */
	pagesOf(name: PaymentProcessor['name'] | undefined): readonly string[] {
		if (name === undefined) return []
		return name === 'stripe:organization' ? stripePages : (this.server?.pages ?? [])
	}

	/** The account for new payment links; undefined when the organization takes no payments. */
	async of(db: Db, organizationId: string): Promise<PaymentProcessor | undefined> {
		const own = await this.own(db, organizationId)
		return own ?? (this.#settings.fallback ? this.server : undefined)
	}

	/** The account that a link was made with; undefined when it is not set up any more. */
	async named(db: Db, organizationId: string, name: string): Promise<PaymentProcessor | undefined> {
		const found = name === 'stripe:organization' ? await this.own(db, organizationId) : this.server
		return found?.name === name ? found : undefined
	}

	/** The organization's own account. Throws an ApiError when its keys cannot be unsealed: the money must not go elsewhere. */
	async own(db: Db, organizationId: string): Promise<PaymentProcessor | undefined> {
		const row = await findCredentials(db, organizationId)
		if (!row) return undefined
		const name = `${organizationId} ${row.sealed}`
		const known = this.#clients.get(name)
		if (known) this.#clients.delete(name)
		const client = known ?? this.#open(openCredentials(this.#settings.secrets, row))
		this.#clients.set(name, client)
		const [oldest] = this.#clients.keys()
		if (this.#clients.size > maxClients && oldest !== undefined) this.#clients.delete(oldest)
		return client
	}

	async #open(secrets: StripeSecrets | undefined): Promise<PaymentProcessor> {
		if (secrets) return this.#settings.open(secrets)
		throw new ApiError('payment_processor_failed', "The organization's payment credentials cannot be read: set them again.")
	}
}
