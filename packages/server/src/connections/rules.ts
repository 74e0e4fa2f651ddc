// What a connection to a provider may be.
import { ApiError, fieldError } from '../base/errors.ts'
import type {
	Connection,
	ConnectionAuthType,
	ConnectionConfig,
	ConnectionCredentials,
	ConnectionUpdate,
} from '../generated/contract.ts'
import type { Manifest } from './providers/manifest.ts'
import { findProvider } from './providers/providers.ts'

const invalid = (pointer: string, detail: string) => fieldError('invalid_connection', pointer, detail)

export function requireProvider(id: string): Manifest {
	const manifest = findProvider(id)
	if (!manifest) throw fieldError('unknown_provider', '/provider', `There is no provider ${id}.`)
	return manifest
}

/** The credentials that each way to prove who one is consists of. */
const needed: Readonly<Record<ConnectionAuthType, readonly (keyof ConnectionCredentials)[]>> = {
	api_key: ['apiKey'],
	basic: ['username', 'password'],
}

export function requireAuthType({ id, authTypes }: Manifest, authType: ConnectionAuthType): void {
	if (authTypes.includes(authType)) return
	throw invalid('/authType', `A connection to ${id} cannot use ${authType}; it can use ${authTypes.join(', ') || 'nothing yet'}.`)
}

export function requireCredentials(authType: ConnectionAuthType, credentials: ConnectionCredentials): void {
	const missing = needed[authType].find((name) => credentials[name] === undefined)
	if (missing) throw invalid(`/credentials/${missing}`, `${authType} needs ${needed[authType].join(' and ')}.`)
	const extra = Object.keys(credentials).find((name) => !needed[authType].includes(name as never))
	if (extra) throw invalid(`/credentials/${extra}`, `${authType} has no ${extra}.`)
}

export function requireConfig({ id, config: known }: Manifest, authType: ConnectionAuthType, config: ConnectionConfig): void {
	const names = Object.keys(known) as (keyof ConnectionConfig)[]
	const missing = names.find((name) => known[name] && config[name] === undefined)
	if (missing) throw invalid(`/config/${missing}`, `A connection to ${id} needs ${missing}.`)
	const extra = Object.keys(config).find((name) => !(name in known))
	if (extra) throw invalid(`/config/${extra}`, `A connection to ${id} has no ${extra}.`)
	if (config.apiKeyHeader !== undefined && authType !== 'api_key')
		throw invalid('/config/apiKeyHeader', `${authType} has no apiKeyHeader.`)
	if (config.baseUrl !== undefined && new URL(config.baseUrl).search)
		throw invalid('/config/baseUrl', 'The URL must have no query.')
}

/** Credentials never go to an origin for which they were not given. */
export function requireSameOrigin(stored: Connection, { config, credentials }: ConnectionUpdate): void {
	if (config?.baseUrl === undefined || stored.config.baseUrl === undefined || credentials) return
	if (new URL(config.baseUrl).origin === new URL(stored.config.baseUrl).origin) return
	throw invalid('/config/baseUrl', 'Another scheme, host or port needs the credentials as well, in the same change.')
}

export function requireEnabled({ id, status }: Connection): void {
	if (status !== 'disabled') return
	throw new ApiError('connection_disabled', `The connection ${id} is disabled: set its status to active first.`)
}

/** Keys shorter than this are not shown in part. */
const shortestHinted = 16

/** What tells credentials from others without giving them away. */
export function hintOf({ apiKey, username }: ConnectionCredentials): string | null {
	if (apiKey === undefined) return username ?? null
	return apiKey.length < shortestHinted ? null : apiKey.slice(-4)
}

/** The status after a caller changed a connection. `proven`: its last call succeeded, with the credentials that it has now. */
export function statusAfter(
	stored: Connection,
	{ status, credentials, config }: ConnectionUpdate,
): Pick<Connection, 'status' | 'statusReason'> | undefined {
	if (status === 'disabled' || (stored.status === 'disabled' && status === undefined))
		return { status: 'disabled', statusReason: 'A caller disabled it.' }
	if (credentials || (config && stored.status !== 'disabled' && changes(stored.config, config)))
		return { status: 'pending', statusReason: null }
	if (stored.status !== 'disabled') return undefined
	const isProven = stored.lastSuccessAt !== null && stored.lastError === null
	return { status: isProven && !config ? 'active' : 'pending', statusReason: null }
}

const changes = (before: ConnectionConfig, after: ConnectionConfig) =>
	[...new Set([...Object.keys(before), ...Object.keys(after)])].some(
		(name) => before[name as keyof ConnectionConfig] !== after[name as keyof ConnectionConfig],
	)
