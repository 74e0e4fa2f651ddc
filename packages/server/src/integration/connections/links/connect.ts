// What a person does who opens a link: begins an authorization at the provider, or gives credentials, which are tested before they are stored.

import { requireOrganization } from '../../../accounts/doors.ts'
import type { Connection, ConnectionAuthType, ConnectionCredentials } from '../../../generated/contract.ts'
import type { Origin } from '../../../platform/base/origin.ts'
import { formats } from '../../../platform/contract/formats.ts'
import { recordChange } from '../../../platform/db/audit-log.ts'
import type { Database } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/outside/services.ts'
import { baseUrlOf } from '../access.ts'
import { begin } from '../authorize.ts'
import { consumeLink, countTry, findLink, hashOfSecret, type LinkRow, mostTries } from '../link-store.ts'
import { columnsOf, testConnection } from '../probe.ts'
import { findProvider } from '../providers/providers.ts'
import { changeConnection, connections, credentialColumns, openCredentials } from '../store.ts'
import { findTokenRow, forgetToken, lockTokenRow, type TokenRow } from '../token-store.ts'
import { urlsOf } from '../tokens.ts'

/** The credentials that a page asks for, by how a connection proves who it is; none where the provider asks. */
const asked = { oauth2: [], api_key: ['apiKey'], basic: ['username', 'password'] } as const

type LinkableType = keyof typeof asked

export const isLinkable = (authType: ConnectionAuthType): authType is LinkableType => authType in asked

export type AskedField = 'apiKey' | 'username' | 'password'

export const urlOfLink = (baseUrl: string, token: string) => `${baseUrl}/connect/${token}`

/** A link that works, and what its page says. */
export interface OpenLink {
	readonly result: 'open'
	readonly row: LinkRow
	readonly connection: Connection
	readonly organization: string
	readonly provider: string
	/** The host that credentials go to. */
	readonly host: string
	readonly fields: readonly AskedField[]
	/** The origins that the form may lead to. */
	readonly targets: readonly string[]
}

export type Opened = OpenLink | { readonly result: 'link_used' | 'link_expired' | 'link_exhausted' }

/** Undefined when there is no such link, or another replaced it. */
export async function openLink(db: Database, services: Services, token: string, now: number): Promise<Opened | undefined> {
	const row = await findLink(db, token)
	const connection = row && (await connections.find(db, row.organizationId, row.id))
	const provider = connection && findProvider(connection.provider)
	if (!provider || !isLinkable(connection.authType)) return undefined
	if (row.linkUsedAt !== null) return { result: 'link_used' }
	if (row.linkExpiresAt <= now) return { result: 'link_expired' }
	if (row.linkTries >= mostTries) return { result: 'link_exhausted' }
	const { name } = await requireOrganization(db, row.organizationId)
	const { host } = new URL(baseUrlOf(services, provider, connection))
	// Chromium checks each redirect after a form, and a provider may have several hosts on the way.
	const targets = connection.authType === 'oauth2' ? ['https:', new URL(urlsOf(services, provider).authorizationUrl).origin] : []
	return {
		...{ result: 'open', row, connection, host, targets },
		organization: name || row.organizationId,
		// An API that the connection describes is known by its host.
		provider: provider.baseUrl === '' ? host : provider.name,
		fields: asked[connection.authType],
	}
}

interface Writing {
	readonly db: Database
	readonly services: Services
	readonly origin: Origin
}

/** Begins the authorization of a connection in a browser that has this secret; returns the URL at the provider, undefined when the link is another by now. */
export async function beginByLink(
	{ db, services, origin }: Writing,
	{ row, connection }: OpenLink,
	browser: string,
): Promise<string | undefined> {
	const { answer, store } = begin({ origin, services }, connection, row.linkReturnUrl, hashOfSecret(browser))
	return db.transaction(async (tx) => {
		if (!(await connections.lock(tx, row.organizationId, row.id)) || !(await countTry(tx, row))) return undefined
		await store(tx)
		return answer.url
	}, row)
}

/** The longest key and the longest line of the contract. */
const longest = { apiKey: 4096, username: 200, password: 200 }

/** The credentials of a form; undefined when they cannot be any. Blanks around a key were copied with it. */
export function credentialsOf(
	fields: readonly AskedField[],
	form: Readonly<Record<string, unknown>>,
): ConnectionCredentials | undefined {
	const given = fields.map(
		(name) => [name, name === 'password' ? String(form[name] ?? '') : String(form[name] ?? '').trim()] as const,
	)
	const isOne = ([name, text]: readonly [AskedField, string]) => {
		const format = formats[name === 'apiKey' ? 'header-value' : 'line']
		const fits = text.length > 0 && text.length <= longest[name] && format?.validate(text as never) === true
		return fits && !(name === 'username' && text.includes(':'))
	}
	return given.every(isOne) ? Object.fromEntries(given) : undefined
}

export type Given =
	| { readonly result: 'connected'; readonly connection: Connection; readonly returnUrl: string | null }
	| { readonly result: 'rejected'; readonly reason: string; readonly isRefused: boolean }
	/** The link or the connection is another by now. */
	| { readonly result: 'gone' }

/** Tests credentials and stores those that work: what did not work leaves the connection as it is. */
export async function giveCredentials(
	{ db, services, origin }: Writing,
	{ row }: OpenLink,
	given: ConnectionCredentials,
	signal: AbortSignal,
): Promise<Given> {
	const { now } = origin
	const stored = await findTokenRow(db, row)
	const webhookSecret = stored && openCredentials(services.secrets, row, stored.credentials)?.webhookSecret
	// The page does not ask for it.
	const columns = credentialColumns(services.secrets, row, { ...given, ...(webhookSecret !== undefined && { webhookSecret }) })
	if (!stored || !(await db.transaction((tx) => countTry(tx, row), row))) return { result: 'gone' }
	const candidate: TokenRow = { ...stored, credentials: columns.credentials }
	const { outcome } = await testConnection({ db, services, now }, candidate, signal)
	return db.transaction(async (tx): Promise<Given> => {
		const current = await lockTokenRow(tx, row)
		// What a caller changed meanwhile was not tested.
		if (!current || current.tokenGeneration !== stored.tokenGeneration) return { result: 'gone' }
		if ('error' in outcome) {
			const { code, detail } = outcome.error
			const { organizationId, id: resourceId } = row
			const audited = { organizationId, resource: 'connection', resourceId, action: 'tested' } as const
			await recordChange({ db: tx, origin }, { ...audited, after: { code, detail } })
			return { result: 'rejected', reason: detail, isRefused: code === 'unauthorized' }
		}
		if (!(await consumeLink(tx, row, now))) return { result: 'gone' }
		await forgetToken(tx, row)
		const proven = columnsOf({ ...current.connection, account: null }, outcome, now)
		const connection = await changeConnection({ db: tx, origin }, current.connection, { ...columns, ...proven })
		return { result: 'connected', connection, returnUrl: row.linkReturnUrl }
	}, row)
}
