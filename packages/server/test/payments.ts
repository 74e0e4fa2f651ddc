// A server that takes payments through a fake Stripe, and the stored links and payments.
import { expect } from 'vitest'
import type { PaymentLink } from '../src/billing/invoices/payment-link-store.ts'
import type { ProcessorEvent } from '../src/billing/payment-links/store.ts'
import type { Config } from '../src/config.ts'
import type { EventType } from '../src/generated/contract.ts'
import { type Database, query } from '../src/platform/db/database.ts'
import type { Changes } from '../src/platform/events/changes.ts'
import { PaymentAccounts } from '../src/platform/outside/payment-accounts.ts'
import type { PaymentProcessor } from '../src/platform/outside/payments/processor.ts'
import { stripeProcessor } from '../src/platform/outside/payments/stripe.ts'
import { openSecrets } from '../src/platform/outside/secrets.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { encryptionKey } from './leaks.ts'
import { FakeStripe } from './stripe.ts'

/** The settings of a server that uses this Stripe. */
export const stripeSettings = ({ secretKey, webhookSecret, apiBase }: FakeStripe) => ({
	PAYMENT_PROCESSOR: 'stripe' as const,
	STRIPE_SECRET_KEY: secretKey,
	STRIPE_WEBHOOK_SECRET: webhookSecret,
	STRIPE_API_BASE: apiBase,
})

/** The processor client of this Stripe, for tests that call it without a server. */
export const processorOf = ({ secretKey, webhookSecret, apiBase }: FakeStripe, timeoutMs: number) =>
	stripeProcessor({ name: 'stripe', secretKey, webhookSecret, apiBase, timeoutMs })

/** The accounts of a server whose own is this processor. */
export const accountsOf = (server: PaymentProcessor | undefined) =>
	new PaymentAccounts({
		server,
		fallback: true,
		secrets: openSecrets({ ENCRYPTION_KEYS: encryptionKey(1), DATA_DIR: '' }),
		open: () => Promise.reject(new Error('no organization has an account')),
	})

export interface StripeServer extends TestServer {
	readonly stripe: FakeStripe
}

/** Starts a server in production mode: `ask` checks its answers anyway, and the server's own check takes a second to load. */
export async function startWithStripe(settings: Partial<Config> = {}): Promise<StripeServer> {
	const stripe = await new FakeStripe().start()
	const server = await startTestServer({ NODE_ENV: 'production', ...stripeSettings(stripe), ...settings })
	const close = async () => {
		await server.close()
		await stripe.stop()
	}
	return { ...server, stripe, close }
}

export const createInvoice = async ({ ask }: Tenant, body: object = { totalCents: 5_000 }): Promise<string> =>
	(await ask('POST', '/api/invoices', { body })).body.id

export const readInvoice = async ({ ask }: Tenant, id: string) => (await ask('GET', `/api/invoices/${id}`)).body.data

export const patchInvoice = ({ ask }: Tenant, id: string, body: object) => ask('PATCH', `/api/invoices/${id}`, { body })

export const askForLink = ({ ask }: Tenant, id: string, headers: Record<string, string> = {}) =>
	ask('POST', `/api/invoices/${id}/payment-link`, { headers })

/** Matches the status of a link that is closed, or will be within seconds. */
export const closed = expect.stringMatching(/^clos(ing|ed)$/)

const links = query<{ organizationId: string; invoiceId: string }, PaymentLink>((knex, key) =>
	knex('payment_links').where(key).select('*').orderBy('createdAt').orderBy('id'),
)

export const linksOf = (db: Database, { organizationId }: Tenant, invoiceId: string) =>
	db.all(links, { organizationId, invoiceId })

const payments = query<{ organizationId: string }, ProcessorEvent>((knex, key) =>
	knex('processor_events').where(key).select('*').orderBy('receivedAt').orderBy('eventId'),
)

/** What processors reported to an organization. */
export const paymentsOf = (db: Database, organizationId: string) => db.all(payments, { organizationId })

interface EventRow {
	readonly type: EventType
	readonly resourceId: string
	readonly actor: string | { type: string; id: string | null }
	readonly changes: string | Changes | null
}

const events = query<{ organizationId: string }, EventRow>((knex, key) =>
	knex('events').where(key).orderBy('position').select('type', 'resourceId', 'actor', 'changes'),
)

/** The events by payment processors in an organization, in the order in which they were written. */
export async function eventsOfPayments(db: Database, organizationId: string) {
	const rows = await db.all(events, { organizationId })
	const parsed = rows.map(({ actor, changes, ...row }) => ({ ...row, actor: unpack(actor), changes: unpack(changes) }))
	return parsed.filter(({ actor }) => (actor as { type: string }).type === 'payment_processor')
}

/** SQLite returns JSON as text. */
const unpack = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)

export interface Webhook {
	readonly body: Uint8Array
	readonly headers: Record<string, string>
}

/** Posts a webhook; the answer's body is JSON. */
export async function post(url: string, { body, headers }: Webhook, method = 'POST') {
	const answer = await fetch(url, { method, headers, ...(method !== 'GET' && { body: body as unknown as string }) })
	return { status: answer.status, type: answer.headers.get('content-type'), headers: answer.headers, body: await answer.json() }
}

/** An invoice that its payer has just paid at Stripe, before Stripe reports it. */
export async function paidAtStripe(server: StripeServer, tenant: Tenant, invoice: object = { totalCents: 5_000 }) {
	const id = await createInvoice(tenant, { status: 'sent', ...invoice })
	await askForLink(tenant, id)
	const [link] = (await linksOf(server.db, tenant, id)) as [PaymentLink]
	server.stripe.complete(link.externalId)
	/** A webhook about the payment, each time with another event id. */
	const webhook = (type = 'checkout.session.completed') => server.stripe.deliver(type, link.externalId, server.clock.now)
	return { id, link, webhook }
}
