// Every setting: its name in the environment, its default, its meaning and its valid values. `remit serve --help` prints this
// table. Nothing else reads the environment.
import { ConfigError } from './platform/base/errors.ts'
import { parseCidrs } from './platform/base/public-addresses.ts'

interface Setting<T> {
	readonly default: string
	readonly meaning: string
	/** Turns the text into the value; throws an Error that says what the value must be. */
	readonly parse: (text: string) => T
	/** Whether an error message must not show the value. */
	readonly secret: boolean
}

const setting = <T>(fallback: string, meaning: string, parse: (text: string) => T): Setting<T> => ({
	default: fallback,
	meaning,
	parse,
	secret: false,
})

const secret = <T>(meaning: string, parse: (text: string) => T): Setting<T> => ({ ...setting('', meaning, parse), secret: true })

const text = (value: string) => value

const notEmpty = (value: string) => {
	if (value.trim() === '') throw new Error('must not be empty')
	return value
}

const startsWith =
	(...prefixes: string[]) =>
	(value: string) => {
		if (value !== '' && !prefixes.some((prefix) => value.startsWith(prefix) && value.length > prefix.length))
			throw new Error(`must begin with ${prefixes.join(' or ')}`)
		return value
	}

const integer = (min: number, max: number) => (value: string) => {
	if (!/^\d+$/.test(value) || Number(value) < min || Number(value) > max) {
		throw new Error(`must be an integer from ${min} to ${max}`)
	}
	return Number(value)
}

const share = (value: string) => {
	if (!/^(0|1|0?\.\d+|1\.0+)$/.test(value)) throw new Error('must be a number from 0 to 1')
	return Number(value)
}

const pairs = (value: string): Record<string, string> => {
	const parts = value === '' ? [] : value.split(',').map((part) => part.trim())
	if (parts.some((part) => !/^[\w-]+=./.test(part))) throw new Error('must be name=value, several with commas between them')
	return Object.fromEntries(
		parts.map((part) => [part.slice(0, part.indexOf('=')), decodeURIComponent(part.slice(part.indexOf('=') + 1))]),
	)
}

const portOrNone = (value: string) => (value === '' ? undefined : integer(0, 65_535)(value))

const oneOf =
	<const T extends string>(...choices: readonly T[]) =>
	(value: string): T => {
		if (!choices.includes(value as T)) {
			const named = choices.filter((choice) => choice !== '')
			throw new Error(`must be one of ${named.join(', ')}${named.length < choices.length ? ', or empty' : ''}`)
		}
		return value as T
	}

const url =
	(...protocols: string[]) =>
	(value: string) => {
		if (value === '') return value
		if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
			throw new Error(`must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`)
		}
		return value.replace(/\/$/, '')
	}

/** Without a scheme it is one of http, as curl takes it. */
const withScheme = (proxy: string) => (proxy === '' || proxy.includes('://') ? proxy : `http://${proxy}`)

/** A URL that paths are added to. */
const baseUrl = (value: string) => {
	const checked = url('http:', 'https:')(value)
	if (checked !== '' && /[?#@\s]/.test(checked)) throw new Error('must have no user, query, fragment or space')
	return checked
}

const origins = (value: string): string[] => {
	const named = value.split(',').flatMap((part) => part.trim() || [])
	const wrong = named.find((origin) => !/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
	if (wrong !== undefined)
		throw new Error(`must be origins such as https://app.example.com, without a path, with commas between them; ${wrong} is none`)
	return named
}

const mailUrl = (value: string) => {
	if (!/^($|none$|smtps?:\/\/[^/]|file:)/.test(value)) throw new Error('must begin with smtp://, smtps:// or file:, or be none')
	return value
}

const list = (value: string) =>
	value
		.toLowerCase()
		.split(/[\s,]+/)
		.filter(Boolean)

const schedule = (value: string) => {
	const seconds = value.split(',').map((part) => part.trim())
	if (seconds[0] !== '0' || seconds.length > 50 || seconds.some((part) => !/^\d{1,7}$/.test(part)))
		throw new Error('must be 1 to 50 numbers of seconds with commas between them, the first of them 0')
	return seconds.map(Number)
}

const providerBase = (name: string) => setting('', `Another address of the API of ${name}, for tests.`, baseUrl)

export const settings = {
	PORT: setting('3000', 'Port to listen on; 0 takes a free one.', integer(0, 65_535)),
	HOST: setting('127.0.0.1', 'Address to listen on; 0.0.0.0 for every interface.', notEmpty),
	BASE_URL: setting('', 'The server as clients see it, with a path only where WEB=off; empty: http://HOST:PORT.', baseUrl),
	DATA_DIR: setting('data', 'Folder of the SQLite database, of the encryption key and of mail that is not sent.', notEmpty),
	DATABASE_URL: secret(
		'PostgreSQL to use instead of SQLite: postgres://user:password@host:port/database.',
		url('postgres:', 'postgresql:'),
	),
	DATABASE_READ_URL: secret(
		'PostgreSQL: a standby that reads lists, searches and reports; what it does not have yet, the primary reads.',
		url('postgres:', 'postgresql:'),
	),
	DATABASE_POOLER: setting(
		'none',
		'PostgreSQL: none; transaction: PgBouncer between, in transaction mode. It keeps no prepared statements, and its role has the time limits.',
		oneOf('none', 'transaction'),
	),
	DATABASE_CONNECTIONS: setting(
		'16',
		'PostgreSQL: connections of a process, beside one for /ready; half of them only read.',
		integer(2, 500),
	),
	DATABASE_CONNECT_SECONDS: setting(
		'5',
		'PostgreSQL: how long to wait until it accepts a connection, or one is free.',
		integer(1, 60),
	),
	DATABASE_QUERY_SECONDS: setting(
		'8',
		'PostgreSQL: how long a query, or a pause in a transaction, may take; a lock is waited for half as long.',
		integer(1, 600),
	),
	ROLE: setting(
		'all',
		'What the process does: all; api: requests alone; worker: what needs no request, and /health and /ready. PostgreSQL alone.',
		oneOf('all', 'api', 'worker'),
	),
	WEB: setting(
		'on',
		'Whether the server has the web application, at /app, and the API reference, at /docs: on or off.',
		oneOf('on', 'off'),
	),
	CORS_ORIGINS: setting(
		'',
		'Origins whose pages may call the API with a key: https://app.example.com, several with commas between them; empty: none.',
		origins,
	),
	LOG_LEVEL: setting(
		'info',
		'fatal, error, warn, info, debug, trace or silent.',
		oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
	),
	METRICS_PORT: setting(
		'',
		'Port of /metrics, for Prometheus, on HOST; it asks for no key, so let only Prometheus reach it. Empty: none.',
		portOrNone,
	),
	METRICS_HOSTS: setting(
		'',
		'Names with a dot by which Prometheus asks METRICS_PORT, with commas between them; addresses and names without one always may.',
		list,
	),
	OTEL_EXPORTER_OTLP_ENDPOINT: setting(
		'',
		'Where traces go, by OTLP over HTTP: http://host:4318; empty: none are made.',
		baseUrl,
	),
	OTEL_EXPORTER_OTLP_HEADERS: secret('Headers that the collector asks for: name=value, several with commas between them.', pairs),
	OTEL_SERVICE_NAME: setting('remit', 'The name of this server in traces.', notEmpty),
	OTEL_TRACES_SAMPLER_ARG: setting(
		'1',
		'The share of traces that are made, from 0 to 1; a caller may ask for one in its traceparent.',
		share,
	),
	SHUTDOWN_SECONDS: setting(
		'8',
		'How long the server takes at most to end after SIGTERM or SIGINT; what is then under way is broken off.',
		integer(2, 600),
	),
	DRAIN_SECONDS: setting(
		'0',
		'How long a server that is to end still takes requests, while /ready says 503: longer than a load balancer needs to notice.',
		integer(0, 600),
	),
	SHED_ABOVE_REQUESTS: setting(
		'1000',
		'Requests that a process handles at once; beyond, it answers 503 with Retry-After to those who have their share of them.',
		integer(1, 1_000_000),
	),
	SHED_ABOVE_DELAY_MS: setting(
		'1000',
		'How far behind a process may be for a second; beyond, it answers 503 with Retry-After.',
		integer(20, 60_000),
	),
	INVOICING_RATE_LIMIT: setting('1000', 'Invoicing API: requests per minute and key; 0: no limit.', integer(0, 1_000_000)),
	INTEGRATION_RATE_LIMIT: setting('100', 'Integration API: requests per minute and key; 0: no limit.', integer(0, 1_000_000)),
	REQUESTS_UNDER_WAY: setting(
		'100',
		"Requests of a key, or of a visitor's address, that may be under way at once; 0: no limit.",
		integer(0, 100_000),
	),
	ANSWER_TIMEOUT_SECONDS: setting(
		'30',
		'How long a client may take nothing of its answer; then its connection is ended.',
		integer(1, 60),
	),
	GUESS_RATE_LIMIT: setting(
		'30',
		'Wrong API keys, wrong client links and wrong webhook signatures, of each so many per minute and address; 0: no limit.',
		integer(0, 1_000_000),
	),
	REDIS_URL: secret(
		'Where several processes share their limits: redis://host:port; empty: each has its own.',
		url('redis:', 'rediss:'),
	),
	TRUST_PROXY: setting('0', 'How many proxies stand in front: that many X-Forwarded-For addresses are believed.', integer(0, 10)),
	ENCRYPTION_KEYS: secret(
		'Keys that secrets are sealed with: base64 of 32 bytes each, with commas between them, the newest first; empty: one in DATA_DIR.',
		text,
	),
	SMTP_URL: secret(
		'Mail: smtp://user:password@host:port, smtps://…, file:<folder> for .eml files, or none; empty: file:DATA_DIR/mail with SQLite, none with PostgreSQL.',
		mailUrl,
	),
	MAIL_FROM: setting(
		'',
		"The address that mail comes from, alone or as Name <address>: mail is from 'organization via Name', or via the address's domain.",
		text,
	),
	STORED_MB_PER_DAY: setting(
		'1000',
		"Megabytes that an organization's requests may store in a day of UTC, events included; 0: no limit.",
		integer(0, 10_000_000),
	),
	JOB_LEASE_SECONDS: setting(
		'60',
		'Seconds after which a process that gives no sign of life has lost its jobs to another one.',
		integer(1, 3_600),
	),
	MAIL_DAILY_LIMIT: setting(
		'200',
		'Recipients of mail in 24 hours and organization, a quarter of it in its first week; 0: no limit.',
		integer(0, 1_000_000),
	),
	PAYMENT_PROCESSOR: setting(
		'',
		'stripe, test (no money moves; not in production) or none; empty: test in development, else none.',
		oneOf('', 'stripe', 'test', 'none'),
	),
	PAYMENT_FALLBACK: setting(
		'on',
		'Whether organizations without payment credentials of their own take payments with the account of the server: on or off.',
		oneOf('on', 'off'),
	),
	STRIPE_SECRET_KEY: secret("Stripe's API key, sk_… or rk_….", startsWith('sk_', 'rk_')),
	STRIPE_WEBHOOK_SECRET: secret(
		'What Stripe signs webhooks with, whsec_…; they go to BASE_URL/payments/stripe/webhook.',
		startsWith('whsec_'),
	),
	STRIPE_API_BASE: setting('', "Another address of Stripe's API, for tests.", url('http:', 'https:')),
	WEBHOOK_RETRY_SECONDS: setting(
		'0,5,300,1800,7200,18000,36000,50400,72000,86400',
		'Seconds before each attempt of a webhook; the first is made at once.',
		schedule,
	),
	WEBHOOK_TIMEOUT_SECONDS: setting('15', 'How long a webhook may take to be answered.', integer(1, 60)),
	WEBHOOK_HOST_RATE: setting(
		'200',
		'Webhooks a second that may go from a process to one host, whoever named it; 0: no limit.',
		integer(0, 100_000),
	),
	WEBHOOK_RETENTION_DAYS: setting('30', 'How long events and webhook deliveries are kept.', integer(4, 3_650)),
	EGRESS_ALLOW_CIDRS: setting(
		'',
		'Ranges that webhooks and calls to providers may go to although they are not public: 127.0.0.0/8,10.0.0.0/8. In development on loopback: loopback.',
		parseCidrs,
	),
	HTTPS_PROXY: secret(
		'The proxy that webhooks and calls to providers and Stripe go through when their URL is https://; NO_PROXY names exceptions: http://user:password@host:port.',
		(value) => url('http:', 'https:')(withScheme(value)),
	),
	NO_PROXY: setting(
		'',
		'Hosts that are called without it: names with all below them, addresses, ranges, or *; a port may follow.',
		text,
	),
	PROVIDER_HUBSPOT_CLIENT_ID: setting('', "The server's client at HubSpot, for connections with oauth2.", text),
	PROVIDER_HUBSPOT_CLIENT_SECRET: secret('The secret of that client.', text),
	PROVIDER_HUBSPOT_WEBHOOK_SECRET: secret(
		'What HubSpot signs webhooks with, which go to BASE_URL/connections/webhooks/hubspot; empty: the secret of that client.',
		text,
	),
	PROVIDER_HUBSPOT_BASE_URL: providerBase('HubSpot'),
	PROVIDER_HUBSPOT_AUTHORIZATION_URL: setting('', 'Another address where HubSpot lets Remit in, for tests.', baseUrl),
	PROVIDER_HUBSPOT_TOKEN_URL: setting('', 'Another address of the tokens of HubSpot, for tests.', baseUrl),
	PROVIDER_XERO_CLIENT_ID: setting('', "The server's client at Xero, for connections with oauth2.", text),
	PROVIDER_XERO_CLIENT_SECRET: secret('The secret of that client.', text),
	PROVIDER_XERO_WEBHOOK_SECRET: secret(
		'The webhook key of Xero, whose webhooks go to BASE_URL/connections/webhooks/xero; empty: none are taken.',
		text,
	),
	PROVIDER_XERO_BASE_URL: providerBase('Xero'),
	PROVIDER_XERO_AUTHORIZATION_URL: setting('', 'Another address where Xero lets Remit in, for tests.', baseUrl),
	PROVIDER_XERO_TOKEN_URL: setting('', 'Another address of the tokens of Xero, for tests.', baseUrl),
	PROVIDER_STRIPE_BASE_URL: providerBase('Stripe'),
	OIDC_ISSUER: setting(
		'',
		'Where people sign in besides with a password: the issuer of an OpenID Connect provider, which must be in public or in EGRESS_ALLOW_CIDRS.',
		url('http:', 'https:'),
	),
	OIDC_CLIENT_ID: setting('', "The server's client there, which people come back to at BASE_URL/openid/callback.", text),
	OIDC_CLIENT_SECRET: secret('The secret of that client.', text),
	NODE_ENV: setting(
		'production',
		'In development every request and answer is judged by the full validator too; test is production with a test processor.',
		oneOf('production', 'development', 'test'),
	),
} as const

export type Config = { readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['parse']> }

type Environment = Readonly<Record<string, string | undefined>>

const loopback = '127.0.0.0/8,::1/128'

/** Whether nobody but a developer on this machine reaches the server: its webhooks may go to receivers that run beside it. */
const isForThisMachine = ({ NODE_ENV, HOST = settings.HOST.default, BASE_URL, TRUST_PROXY }: Environment) =>
	NODE_ENV === 'development' && /^(127\.[\d.]+|::1|localhost)$/.test(HOST) && !BASE_URL && !TRUST_PROXY

export function readConfig(environment: Environment = process.env): Config {
	const mistakes: string[] = []
	const others: Environment = {
		...(isForThisMachine(environment) && { EGRESS_ALLOW_CIDRS: loopback }),
		// Most programs know them by these names, too.
		HTTPS_PROXY: environment.https_proxy,
		NO_PROXY: environment.no_proxy,
	}
	const entries = Object.entries(settings).map(([name, { default: fallback, parse, secret: isSecret }]) => {
		const value = environment[name] ?? others[name] ?? fallback
		try {
			return [name, parse(value)]
		} catch (error) {
			const shown = isSecret ? '' : `=${value}`
			mistakes.push(`${name}${shown}: ${(error as Error).message}`)
			return [name, undefined]
		}
	})
	const { ROLE = 'all', DATABASE_URL, DATABASE_READ_URL } = environment
	if (DATABASE_READ_URL && !DATABASE_URL)
		mistakes.push('DATABASE_READ_URL: it is a standby of DATABASE_URL, which is not set; set it, too')
	if (ROLE !== 'all' && !DATABASE_URL)
		mistakes.push(`ROLE=${ROLE}: one process does all on SQLite; set DATABASE_URL, or ROLE=all`)
	const { WEB = settings.WEB.default, BASE_URL = '' } = environment
	if (WEB === 'on' && URL.canParse(BASE_URL) && new URL(BASE_URL).pathname !== '/')
		mistakes.push(`BASE_URL=${BASE_URL}: the web application takes a host of its own; leave out the path, or set WEB=off`)
	const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = environment
	if (OIDC_ISSUER && !(OIDC_CLIENT_ID && OIDC_CLIENT_SECRET))
		mistakes.push(`OIDC_ISSUER=${OIDC_ISSUER}: set OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, too`)
	if (mistakes.length > 0) throw new ConfigError(mistakes.join('\n'))
	return Object.fromEntries(entries)
}

/** The proxies by which a command asks a server, but never one on this machine; undefined: there are none. */
export function clientProxies(environment: Environment = process.env): Record<string, string> | undefined {
	const { HTTP_PROXY, HTTPS_PROXY, NO_PROXY } = environment
	const { http_proxy = HTTP_PROXY, https_proxy = HTTPS_PROXY, no_proxy = NO_PROXY } = environment
	if (!http_proxy && !https_proxy) return undefined
	const none = [no_proxy, 'localhost', '127.0.0.1', '::1'].filter(Boolean).join(',')
	return {
		...(http_proxy && { http_proxy: withScheme(http_proxy) }),
		...(https_proxy && { https_proxy: withScheme(https_proxy) }),
		no_proxy: none,
	}
}

/** The table for --help. */
export function settingsHelp(): string {
	const width = Math.max(...Object.keys(settings).map(({ length }) => length)) + 2
	const rows = Object.entries(settings).map(([name, { default: fallback, meaning }]) => {
		return `  ${name.padEnd(width)}${meaning}${fallback ? ` (default: ${fallback})` : ''}`
	})
	return `\nSettings, from the environment:\n${rows.join('\n')}`
}
