// The services that an operation uses besides the database.
import { join } from 'node:path'
import type { RecordDoors } from '../db/record-door.ts'
import type { WriteContext } from '../db/write-context.ts'
import { createPdfRenderer, type PdfRenderer } from '../typeset/pdf.ts'
import { type Egress, openEgress } from './egress.ts'
import type { SecretSettings } from './encryption-keys.ts'
import { type Mailer, type MailSettings, openMailer } from './mail/mail.ts'
import { PaymentAccounts } from './payment-accounts.ts'
import { openAccount, openPaymentProcessor, type PaymentSettings } from './payments/open.ts'
import type { PaymentProcessor } from './payments/processor.ts'
import type { Lookup } from './resolver.ts'
import { openSecrets, type Secrets, testPaymentSecret } from './secrets.ts'
import type { Traces } from './traces/traces.ts'

/** Called in the transaction that makes an organization. */
export type BeginOrganization = (write: WriteContext) => Promise<unknown>

/** What a context uses of one that it does not know. */
export interface Introductions {
	/** The records that syncs and mapping previews move. */
	readonly records: RecordDoors
	/** Makes what a new organization has of other contexts. */
	readonly beginOrganization: BeginOrganization
}

export interface Services extends Introductions {
	readonly mailer: Mailer
	/** How many recipients an organization may send mail to in 24 hours; 0: any number. */
	readonly mailDailyLimit: number
	readonly payments: PaymentAccounts
	readonly pdf: PdfRenderer
	/** Calls addresses that callers gave. */
	readonly egress: Egress
	readonly secrets: Secrets
	/** What the operator set of a provider. */
	providerSettings(provider: string): ProviderSettings
	/** Where people sign in besides with a password; undefined without such a provider. */
	readonly openId: OpenIdSettings | undefined
	/** The URL of the server as clients see it, without a slash at the end. */
	readonly baseUrl: string
}

/** The server's client at an OpenID Connect provider. */
export interface OpenIdSettings {
	readonly issuer: string
	readonly clientId: string
	readonly clientSecret: string
}

/** What the operator sets of a provider of connections. */
export interface ProviderSettings {
	/** Where its API is; empty: where its manifest says. */
	readonly baseUrl: string
	/** Where a person lets Remit in, and where tokens come from; empty: where its manifest says. */
	readonly authorizationUrl: string
	readonly tokenUrl: string
	/** The server's own client; empty without one. */
	readonly clientId: string
	readonly clientSecret: string
	/** What the provider signs webhooks with; empty without one. */
	readonly webhookSecret: string
}

/** The settings of providers by their names in the environment. */
type ProviderEnvironment = {
	readonly [Name in
		| `PROVIDER_${'HUBSPOT' | 'XERO' | 'STRIPE'}_BASE_URL`
		| `PROVIDER_${'HUBSPOT' | 'XERO'}_${'CLIENT_ID' | 'CLIENT_SECRET' | 'WEBHOOK_SECRET' | 'AUTHORIZATION_URL' | 'TOKEN_URL'}`]: string
}

/** All empty for a provider that has no settings. */
function settingsOf(config: ProviderEnvironment, provider: string): ProviderSettings {
	const values: Readonly<Record<string, unknown>> = { ...config }
	const value = (name: string) => String(values[`PROVIDER_${provider.toUpperCase()}_${name}`] ?? '')
	return {
		baseUrl: value('BASE_URL'),
		authorizationUrl: value('AUTHORIZATION_URL'),
		tokenUrl: value('TOKEN_URL'),
		clientId: value('CLIENT_ID'),
		clientSecret: value('CLIENT_SECRET'),
		webhookSecret: value('WEBHOOK_SECRET'),
	}
}

interface ServiceSettings
	extends MailSettings,
		SecretSettings,
		ProviderEnvironment,
		Omit<PaymentSettings, 'PAYMENT_PROCESSOR' | 'baseUrl' | 'testSecret'> {
	/** Empty: the test processor outside of production, else none. */
	readonly PAYMENT_PROCESSOR: PaymentSettings['PAYMENT_PROCESSOR'] | ''
	readonly PAYMENT_FALLBACK: 'on' | 'off'
	readonly DATABASE_URL: string
	readonly MAIL_DAILY_LIMIT: number
	readonly EGRESS_ALLOW_CIDRS: readonly string[]
	readonly OIDC_ISSUER: string
	readonly OIDC_CLIENT_ID: string
	readonly OIDC_CLIENT_SECRET: string
}

export interface ServiceOptions extends Introductions {
	/** A function, because the port may be unknown until the server listens. */
	readonly baseUrl: () => string
	/** Replaces the system's resolver, for tests. */
	readonly lookup?: Lookup | undefined
	/** Makes spans of the calls of others. */
	readonly traces?: Traces | undefined
}

export async function openServices(
	config: ServiceSettings,
	{ baseUrl, lookup, traces, records, beginOrganization }: ServiceOptions,
): Promise<Services & { close(): Promise<void> }> {
	const secrets = openSecrets(config)
	const testSecret = testPaymentSecret(secrets)
	const mailServer = openMailer({ ...config, SMTP_URL: mailUrl(config) })
	const mailer = traces?.mailer(mailServer) ?? mailServer
	const traced = (processor: PaymentProcessor) => traces?.processor(processor) ?? processor
	const own = await openPaymentProcessor({ ...config, PAYMENT_PROCESSOR: processorOf(config), baseUrl, testSecret })
	const server = own && traced(own)
	const payments = new PaymentAccounts({
		server,
		fallback: config.PAYMENT_FALLBACK === 'on',
		secrets,
		open: async (account) => traced(await openAccount('stripe:organization', account, config)),
	})
	const pdf = createPdfRenderer()
	const egress = openEgress({ allowCidrs: config.EGRESS_ALLOW_CIDRS, proxy: config, ...(lookup && { lookup }) })
	return {
		mailer,
		mailDailyLimit: config.MAIL_DAILY_LIMIT,
		payments,
		pdf,
		egress,
		secrets,
		records,
		beginOrganization,
		providerSettings: (provider) => settingsOf(config, provider),
		openId: openIdOf(config),
		get baseUrl() {
			return baseUrl()
		},
		async close() {
			mailer.close()
			await egress.close()
			await pdf.close()
		},
	}
}

const openIdOf = ({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret }: ServiceSettings) =>
	issuer === '' ? undefined : { issuer, clientId, clientSecret }

/** By default, a server with the embedded database writes mail to DATA_DIR, and one with DATABASE_URL sends none. */
export function mailUrl({ SMTP_URL, DATABASE_URL, DATA_DIR }: ServiceSettings): string {
	if (SMTP_URL === 'none') return ''
	return SMTP_URL || (DATABASE_URL ? '' : `file:${join(DATA_DIR, 'mail')}`)
}

const processorOf = ({ PAYMENT_PROCESSOR, NODE_ENV }: ServiceSettings) =>
	PAYMENT_PROCESSOR || (NODE_ENV === 'production' ? 'none' : 'test')
