// The cheapest call to a provider that needs valid credentials, and what its outcome says of the connection.
import type {
	Connection,
	ConnectionAccount,
	ConnectionCredentials,
	ConnectionError,
	ConnectionStatus,
} from '../generated/contract.ts'
import { CallFailed, callJson } from '../outside/providers/json-call.ts'
import { TokenFailed } from '../outside/providers/oauth.ts'
import type { Services } from '../outside/services.ts'
import type { Manifest } from './providers/manifest.ts'
import { manifestOf } from './providers/providers.ts'
import { openCredentials } from './store.ts'
import type { TokenRow } from './token-store.ts'
import { accessTokenOf, type TokenContext } from './tokens.ts'

/** What a test came to. */
export type Outcome =
	| { readonly account: ConnectionAccount | null }
	| { readonly error: Omit<ConnectionError, 'at'>; readonly isRefused?: boolean }

const limits = { timeoutMs: 15_000, maxBytes: 1024 * 1024 }

/** Calls the provider with the credentials of a connection, or with an access token; returns what was tested, too. */
export async function testConnection(
	context: TokenContext,
	row: TokenRow,
	signal: AbortSignal,
): Promise<{ readonly outcome: Outcome; readonly tested: TokenRow }> {
	const { services } = context
	const { connection } = row
	if (connection.authType === 'oauth2' || connection.authType === 'client_credentials')
		return probeWithToken(context, row, signal)
	const credentials = openCredentials(services.secrets, connection, row.credentials)
	const outcome = credentials
		? await probe(services, connection, authorization(connection, credentials), signal)
		: ({ error: { code: 'credentials_lost', detail: 'The server cannot read the credentials: set them again.' } } as const)
	return { outcome, tested: row }
}

/** A token that the provider takes no more, whatever it said of its time, is replaced once. */
async function probeWithToken(context: TokenContext, row: TokenRow, signal: AbortSignal) {
	let tested = row
	const probeBy = async (refused?: number): Promise<Outcome> => {
		const access = await accessTokenOf(context, row.connection, refused)
		tested = access.row
		return probe(context.services, tested.connection, { authorization: `Bearer ${access.accessToken}` }, signal)
	}
	try {
		const outcome = await probeBy()
		const isRefused = 'error' in outcome && outcome.isRefused
		return { outcome: isRefused ? await probeBy(tested.tokenGeneration) : outcome, tested }
	} catch (error) {
		if (!(error instanceof TokenFailed)) throw error
		return { outcome: { error: { code: error.code, detail: error.message } }, tested }
	}
}

async function probe(
	services: Services,
	connection: Connection,
	credentials: Readonly<Record<string, string>>,
	signal: AbortSignal,
): Promise<Outcome> {
	const manifest = manifestOf(connection)
	const headers = { ...manifest.headers, ...credentials }
	const request = { method: 'GET', url: testUrl(services, manifest, connection), headers } as const
	try {
		const { status, json } = await callJson(services.egress, request, { ...limits, signal })
		const code = errorOf(status)
		if (code) return { error: { code, detail: `The provider answered ${status}.` }, isRefused: status === 401 }
		return { account: accountOf(manifest, json) }
	} catch (error) {
		if (!(error instanceof CallFailed)) throw error
		return { error: { code: error.code, detail: error.message } }
	}
}

function authorization(
	{ config }: Connection,
	{ apiKey = '', username, password }: ConnectionCredentials,
): Readonly<Record<string, string>> {
	if (username !== undefined) return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
	return config.apiKeyHeader === undefined ? { authorization: `Bearer ${apiKey}` } : { [config.apiKeyHeader]: apiKey }
}

function testUrl(services: Services, { id, baseUrl, test }: Manifest, { config }: Connection): string {
	const base = config.baseUrl ?? (services.providerSettings(id).baseUrl || baseUrl)
	return base.replace(/\/$/, '') + (config.testPath ?? test.path)
}

function errorOf(status: number): ConnectionError['code'] | undefined {
	if (status >= 200 && status < 300) return undefined
	if (status === 401) return 'unauthorized'
	if (status === 403) return 'forbidden'
	if (status === 429) return 'rate_limited'
	return status >= 500 ? 'provider_failed' : 'rejected'
}

function accountOf({ test }: Manifest, json: unknown): ConnectionAccount | null {
	const externalId = test.accountId === undefined ? null : textAt(json, test.accountId)
	if (externalId === null) return null
	return { externalId, displayName: test.accountName === undefined ? null : textAt(json, test.accountName) }
}

const longest = 200

/** Text or a number of an answer, as one line; null when it is anything else. */
function textAt(json: unknown, path: string): string | null {
	const value = path
		.split('.')
		.reduce<unknown>((part, name) => (part instanceof Object && Object.hasOwn(part, name) ? part[name as never] : null), json)
	if (typeof value !== 'string' && typeof value !== 'number') return null
	return String(value)
		.toWellFormed()
		.replaceAll(/\p{Cc}/gu, ' ')
		.slice(0, longest)
		.toWellFormed()
}

/** The columns that an outcome gives a connection. */
export function columnsOf(
	stored: Connection,
	outcome: Outcome,
	now: number,
): Pick<Connection, 'status' | 'statusReason' | 'lastError'> & Partial<Pick<Connection, 'account' | 'lastSuccessAt'>> {
	if ('error' in outcome) {
		const { code, detail } = outcome.error
		const status = statusAfterError(stored.status, code)
		return { status, statusReason: status === 'pending' ? null : detail, lastError: { code, detail, at: now } }
	}
	const account = outcome.account ?? stored.account
	return { status: 'active', statusReason: null, lastError: null, lastSuccessAt: now, account }
}

const needsOthers: readonly ConnectionError['code'][] = ['unauthorized', 'credentials_lost', 'not_authorized']

function statusAfterError(status: ConnectionStatus, code: ConnectionError['code']): ConnectionStatus {
	// Nothing was tried.
	if (status === 'pending' && code === 'not_authorized') return status
	if (status === 'pending' || status === 'failed') return 'failed'
	if (needsOthers.includes(code)) return 'needs_reauth'
	return status === 'needs_reauth' ? status : 'degraded'
}
