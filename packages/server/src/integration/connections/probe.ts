// The cheapest call to a provider that needs valid credentials, and what its outcome says of the connection.
import type { Connection, ConnectionAccount, ConnectionError, ConnectionStatus } from '../../generated/contract.ts'
import { CallFailed, callJson } from '../../platform/outside/providers/json-call.ts'
import { TokenFailed } from '../../platform/outside/providers/oauth.ts'
import type { Services } from '../../platform/outside/services.ts'
import { baseUrlOf, type Proof, urlBelow, withProof } from './access.ts'
import type { Manifest } from './providers/manifest.ts'
import { manifestOf } from './providers/providers.ts'
import type { TokenRow } from './token-store.ts'
import type { TokenContext } from './tokens.ts'
import { oneLine, valueAt } from './values.ts'

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
	let tested = row
	const send = (proof: Proof) => {
		tested = proof.row
		return probe(context.services, tested.connection, proof.headers, signal)
	}
	try {
		const outcome = await withProof(context, row, send, (found) => 'error' in found && found.isRefused === true)
		return { outcome, tested }
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
	try {
		const url = urlBelow(baseUrlOf(services, manifest, connection), connection.config.testPath ?? manifest.test.path)
		const request = { method: 'GET', url: url.href, headers } as const
		const { status, json } = await callJson(services.egress, request, { ...limits, signal })
		const code = errorOf(status)
		if (code) return { error: { code, detail: `The provider answered ${status}.` }, isRefused: status === 401 }
		return accountIn(manifest, connection, json)
	} catch (error) {
		if (!(error instanceof CallFailed)) throw error
		return { error: { code: error.code, detail: error.message } }
	}
}

const namingMs = 5_000

/** The account that a new access token opens, or that somebody has to choose one; no account when the provider does not say so soon. Webhooks name it. */
export async function accountBehind(services: Services, connection: Connection, accessToken: string): Promise<Outcome> {
	const headers = { authorization: `Bearer ${accessToken}` }
	const outcome = await probe(services, connection, headers, AbortSignal.timeout(namingMs)).catch(() => null)
	const isNamed = outcome && ('account' in outcome || outcome.error.code === 'account_not_chosen')
	return isNamed ? outcome : { account: null }
}

/** What a status says of a connection; undefined for a success. */
export function errorOf(status: number): ConnectionError['code'] | undefined {
	if (status >= 200 && status < 300) return undefined
	if (status === 401) return 'unauthorized'
	if (status === 403) return 'forbidden'
	if (status === 429) return 'rate_limited'
	return status >= 500 ? 'provider_failed' : 'rejected'
}

const mostAccounts = 100
const mostNamed = 10

/** The account that the answer to a test names, or of several the one of the connection. */
function accountIn(manifest: Manifest, { config: { tenantId }, account }: Connection, json: unknown): Outcome {
	const { accounts: path } = manifest.test
	if (path === undefined) return { account: accountOf(manifest, json) }
	const list = valueAt(json, path)
	const accounts = (Array.isArray(list) ? list : []).flatMap((one) => accountOf(manifest, one) ?? [])
	const chosen = accounts.find(({ externalId }) => externalId === (tenantId ?? account?.externalId))
	if (chosen) return { account: chosen }
	if (tenantId === undefined && accounts.length <= 1) return { account: accounts[0] ?? null }
	const names = accounts.slice(0, mostNamed).map(({ externalId, displayName }) => `${displayName ?? 'no name'} (${externalId})`)
	const which = `${names.join(', ')}${accounts.length > mostNamed ? ' and others' : ''}`
	const detail =
		accounts.length === 0
			? `The credentials do not open the tenant of config.tenantId, and no other.`
			: `The credentials open ${which}. Name one as config.tenantId.`
	return { error: { code: 'account_not_chosen', detail, accounts: accounts.slice(0, mostAccounts) } }
}

function accountOf({ test }: Manifest, json: unknown): ConnectionAccount | null {
	const externalId = test.accountId === undefined ? null : textAt(json, test.accountId)
	if (externalId === null) return null
	return { externalId, displayName: test.accountName === undefined ? null : textAt(json, test.accountName) }
}

const longest = 200

/** Text or a number of an answer, as one line; null when it is anything else. */
function textAt(json: unknown, path: string): string | null {
	const value = valueAt(json, path)
	return typeof value === 'string' || typeof value === 'number' ? oneLine(String(value), longest) : null
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
		return { status, statusReason: status === 'pending' ? null : detail, lastError: { ...outcome.error, at: now } }
	}
	const account = outcome.account ?? stored.account
	return { status: 'active', statusReason: null, lastError: null, lastSuccessAt: now, account }
}

const needsOthers: readonly ConnectionError['code'][] = ['unauthorized', 'not_authorized']

export function statusAfterError(status: ConnectionStatus, code: ConnectionError['code']): ConnectionStatus {
	// Nothing was tried.
	if (status === 'pending' && code === 'not_authorized') return status
	if (status === 'pending' || status === 'failed') return 'failed'
	if (needsOthers.includes(code)) return 'needs_reauth'
	return status === 'needs_reauth' ? status : 'degraded'
}
