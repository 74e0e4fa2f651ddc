// The tokens of connections. A token is written without an entry in the audit log, since a refresh is nobody's change of the connection; its version
// rises, because its answer differs.
import type { Knex } from 'knex'
import type { Connection } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { dayMs } from '../../platform/base/dates.ts'
import { type Db, type Dialect, type Placeholders, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { sealedColumns } from '../../platform/outside/sealed-columns.ts'
import type { Secrets } from '../../platform/outside/secrets.ts'
import { scheduleJob } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import { findProvider } from './providers/providers.ts'
import type { ConnectionKey } from './store.ts'

export interface StoredToken {
	readonly accessToken: string
	readonly refreshToken: string | null
	readonly issuedAt: number
	/** Null for a token that works until it does not. */
	readonly expiresAt: number | null
}

/** A connection and what no answer shows of it, of one moment: its credentials and token go where this `connection` says, and nowhere else. */
export interface TokenRow {
	readonly connection: Connection
	/** Sealed. */
	readonly credentials: string
	/** Sealed. */
	readonly token: string | null
	/** Another one says that the token, the credentials or the config is another. */
	readonly tokenGeneration: number
	readonly refreshLeaseUntil: number | null
}

type Columns = Omit<TokenRow, 'connection'> & { readonly json: string }

const rows = (knex: Knex, key: Placeholders<ConnectionKey>, dialect: Dialect) =>
	knex('connections')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.Connection), 'credentials', 'token', 'tokenGeneration', 'refreshLeaseUntil')

const one = query<ConnectionKey, Columns>(rows)
const locked = query<ConnectionKey, Columns>((knex, key, dialect) => rows(knex, key, dialect).forUpdate())

const withToken = query<{ organizationId: string }, Columns>((knex, key, dialect) =>
	rows(knex, key as never, dialect).whereNotNull('token'),
)

/** The connections of an organization that have a token. */
export const findTokenRows = async (db: Db, organizationId: string): Promise<TokenRow[]> =>
	Promise.all((await db.all(withToken, { organizationId })).map(async (row) => (await parsed(Promise.resolve(row))) as TokenRow))

async function parsed(found: Promise<Columns | undefined>): Promise<TokenRow | undefined> {
	const { json, ...row } = (await found) ?? {}
	return json === undefined ? undefined : { ...(row as Omit<Columns, 'json'>), connection: JSON.parse(json) }
}

export const findTokenRow = (db: Db, { organizationId, id }: ConnectionKey) => parsed(db.get(one, { organizationId, id }))
export const lockTokenRow = (db: Db, { organizationId, id }: ConnectionKey) => parsed(db.get(locked, { organizationId, id }))

const lease = query<ConnectionKey & { tokenGeneration: number; until: number | null }>((knex, { until, ...key }) =>
	knex('connections').where(key).update({ refreshLeaseUntil: until }),
)

/** Lets one process alone replace the token of a generation; null lets any. */
export const leaseRefresh = (db: Db, { organizationId, id }: ConnectionKey, tokenGeneration: number, until: number | null) =>
	db.run(lease, { organizationId, id, tokenGeneration, until })

const { connectionToken } = sealedColumns

/** Undefined without a token, or when the server lost the sealing key. */
export function openToken(secrets: Secrets, { connection: { organizationId, id }, token }: TokenRow): StoredToken | undefined {
	const text = token === null ? undefined : secrets.unseal(connectionToken, { organizationId, id }, token)
	return text === undefined ? undefined : JSON.parse(text)
}

type Shown = Partial<Pick<Connection, 'grantedScopes' | 'missingScopes' | 'lastRefreshedAt'>>

const saved = query<ConnectionKey & Shown & { token: string; expiresAt: number | null; now: number }>(
	(knex, { organizationId, id, now, ...values }) =>
		knex('connections')
			.where({ organizationId, id })
			.update({
				...values,
				updatedAt: now,
				refreshLeaseUntil: null,
				tokenGeneration: knex.raw('?? + 1', ['tokenGeneration']),
				version: knex.raw('version + 1'),
			}),
)

type OfProvider = Pick<Connection, 'organizationId' | 'id' | 'provider' | 'authType'>

/** Stores a new token. The caller holds the row's lock. */
export async function saveToken(
	db: Db,
	secrets: Secrets,
	connection: OfProvider,
	token: StoredToken,
	shown: Shown,
	now: number,
): Promise<void> {
	const { organizationId, id } = connection
	const sealed = secrets.seal(connectionToken, { organizationId, id }, JSON.stringify(token))
	await db.run(saved, { organizationId, id, ...shown, token: sealed, expiresAt: token.expiresAt, now })
	await scheduleKeepAlive(db, connection, token)
}

/** When a refresh token is to be used, at three quarters of its idle time; undefined where none ends. */
export function keepAliveAt({ provider, authType }: OfProvider, { issuedAt, refreshToken }: StoredToken): number | undefined {
	const days = findProvider(provider)?.oauth?.refreshTokenIdleDays ?? null
	return authType !== 'oauth2' || days === null || refreshToken === null ? undefined : issuedAt + (days * dayMs * 3) / 4
}

/** Makes the job due that uses the refresh token. */
export async function scheduleKeepAlive(db: Db, connection: OfProvider, token: StoredToken): Promise<void> {
	const { organizationId, id: resourceId } = connection
	const dueAt = keepAliveAt(connection, token)
	if (dueAt !== undefined) await scheduleJob(db, { organizationId, kind: jobKinds.tokenKeepAlive, resourceId, dueAt })
}

const forgotten = query<ConnectionKey>((knex, key) =>
	knex('connections')
		.where(key)
		.update({ token: null, refreshLeaseUntil: null, tokenGeneration: knex.raw('?? + 1', ['tokenGeneration']) }),
)

/** Forgets the token, also one that a process is asking for now, since the credentials or the config are others. The caller holds the row's lock. */
export const forgetToken = (db: Db, { organizationId, id }: ConnectionKey) => db.run(forgotten, { organizationId, id })
