// What a connection to a provider may be.
import { isDeepStrictEqual } from 'node:util'
import type {
	Connection,
	ConnectionAuthType,
	ConnectionConfig,
	ConnectionCredentials,
	ConnectionUpdate,
} from '../../generated/contract.ts'
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import { formats } from '../../platform/contract/formats.ts'
import { outside, requireObjects, staysBelow } from './object-rules.ts'
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
	oauth2: [],
	client_credentials: ['clientId', 'clientSecret'],
}

export function requireAuthType({ id, authTypes }: Manifest, authType: ConnectionAuthType): void {
	if (authTypes.includes(authType)) return
	throw invalid('/authType', `A connection to ${id} cannot use ${authType}; it can use ${authTypes.join(', ') || 'nothing yet'}.`)
}

export function requireCredentials(
	{ hasOwnWebhooks = false }: Manifest,
	authType: ConnectionAuthType,
	credentials: ConnectionCredentials,
): void {
	const missing = needed[authType].find((name) => credentials[name] === undefined)
	if (missing) throw invalid(`/credentials/${missing}`, `${authType} needs ${needed[authType].join(' and ')}.`)
	const mayBe = (name: string) => needed[authType].includes(name as never) || (hasOwnWebhooks && name === 'webhookSecret')
	const extra = Object.keys(credentials).find((name) => !mayBe(name))
	if (extra) throw invalid(`/credentials/${extra}`, `${authType} has no ${extra}.`)
}

export function requireConfig({ id, config: known }: Manifest, authType: ConnectionAuthType, config: ConnectionConfig): void {
	const names = Object.keys(known) as (keyof ConnectionConfig)[]
	const missing = names.find((name) => known[name] && config[name] === undefined)
	if (missing) throw invalid(`/config/${missing}`, `A connection to ${id} needs ${missing}.`)
	const extra = Object.keys(config).find((name) => !(name in known))
	if (extra) throw invalid(`/config/${extra}`, `A connection to ${id} has no ${extra}.`)
	for (const [name, only] of ofOneType)
		if (config[name] !== undefined && authType !== only) throw invalid(`/config/${name}`, `${authType} has no ${name}.`)
	if (authType === 'client_credentials' && 'tokenUrl' in known && config.tokenUrl === undefined)
		throw invalid('/config/tokenUrl', `${authType} needs tokenUrl.`)
	for (const name of urls)
		if (config[name] !== undefined && new URL(config[name]).search)
			throw invalid(`/config/${name}`, 'The URL must have no query.')
	if (!staysBelow(config.testPath ?? '/')) throw invalid('/config/testPath', outside)
	const taken = Object.keys(config.tokenParameters ?? {}).find((name) => ofEachRequest.includes(name))
	if (taken) throw invalid(`/config/tokenParameters/${taken}`, `Remit says itself what ${taken} is.`)
	requireObjects(config)
}

const ofOneType = [
	['apiKeyHeader', 'api_key'],
	['tokenUrl', 'client_credentials'],
	['scopes', 'client_credentials'],
	['clientAuthentication', 'client_credentials'],
	['tokenParameters', 'client_credentials'],
] as const

/** What every request for a token has. */
const ofEachRequest = ['grant_type', 'client_id', 'client_secret', 'scope']

/** Where credentials go. */
export const urls = ['baseUrl', 'tokenUrl'] as const

/** Credentials never go to an origin for which they were not given. */
export function requireSameOrigin(stored: Connection, { config, credentials }: ConnectionUpdate): void {
	if (!config || credentials) return
	const originOf = (url: string | undefined) => url && new URL(url).origin
	const moved = urls.find((name) => originOf(config[name]) !== originOf(stored.config[name]))
	if (moved) throw invalid(`/config/${moved}`, 'Another scheme, host or port needs the credentials as well, in the same change.')
}

export function requireEnabled({ id, status }: Connection): void {
	if (status !== 'disabled') return
	throw new ApiError('connection_disabled', `The connection ${id} is disabled: set its status to active first.`)
}

/** Keys shorter than this are not shown in part. */
const shortestHinted = 16

/** What tells credentials from others without giving them away. Some providers take a key as the user name. */
export function hintOf({ apiKey, username, clientId }: ConnectionCredentials): string | null {
	if (clientId !== undefined) return clientId
	if (username !== undefined && formats.email?.validate(username as never)) return username
	const key = apiKey ?? username ?? ''
	return key.length < shortestHinted ? null : key.slice(-4)
}

/** The status after a caller changed a connection; undefined when it stays. */
export function statusAfter(
	stored: Connection,
	change: ConnectionUpdate,
): Pick<Connection, 'status' | 'statusReason'> | undefined {
	const { status, credentials } = change
	if (status === 'disabled' || (stored.status === 'disabled' && status === undefined))
		return { status: 'disabled', statusReason: 'A caller disabled it.' }
	if (credentials || isOtherConfig(stored, change) || isOtherTenant(stored, change))
		return { status: 'pending', statusReason: null }
	if (stored.status !== 'disabled') return undefined
	const isProven = stored.lastSuccessAt !== null && stored.lastError === null
	return { status: isProven ? 'active' : 'pending', statusReason: null }
}

/** Whether a connection opens another account with the same credentials. */
export const isOtherTenant = (stored: Connection, { config }: ConnectionUpdate): boolean =>
	config !== undefined && config.tenantId !== stored.config.tenantId

/** Whether calls go elsewhere, or prove themselves otherwise. What the objects there are says nothing of that. */
export const isOtherConfig = (stored: Connection, { config }: ConnectionUpdate): boolean =>
	config !== undefined && !isDeepStrictEqual({ ...config, ...besides }, { ...stored.config, ...besides })

const besides = { objects: undefined, tenantId: undefined }
