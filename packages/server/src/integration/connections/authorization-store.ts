// Authorizations that are under way at a provider: the last one of each connection.
import { type Db, query } from '../../platform/db/database.ts'
import { sealedColumns } from '../../platform/outside/sealed-columns.ts'
import type { Secrets } from '../../platform/outside/secrets.ts'
import type { ConnectionKey } from './store.ts'

export interface AuthorizationRow extends ConnectionKey {
	readonly stateHash: string
	/** Sealed; null once it was used. */
	readonly stateVerifier: string | null
	readonly stateExpiresAt: number
	readonly stateUsedAt: number | null
	readonly returnUrl: string | null
	/** The hash of the secret of the browser that began it by a link; null when a caller of the API did. */
	readonly stateBrowser: string | null
}

const { connectionVerifier } = sealedColumns

const begun = query<ConnectionKey & Omit<AuthorizationRow, 'stateUsedAt'>>((knex, { organizationId, id, ...columns }) =>
	knex('connections')
		.where({ organizationId, id })
		.update({ ...columns, stateUsedAt: null }),
)

/** Replaces the authorization that was begun before. */
export const saveAuthorization = (
	db: Db,
	secrets: Secrets,
	{ verifier, ...row }: Omit<AuthorizationRow, 'stateVerifier' | 'stateUsedAt'> & { readonly verifier: string },
) => db.run(begun, { ...row, stateVerifier: secrets.seal(connectionVerifier, keyOf(row), verifier) })

const keyOf = ({ organizationId, id }: ConnectionKey) => ({ organizationId, id })

const columns = [
	...(['organizationId', 'id', 'stateHash', 'stateVerifier', 'stateExpiresAt', 'stateUsedAt'] as const),
	...(['returnUrl', 'stateBrowser'] as const),
]

const byState = query<{ stateHash: string }, AuthorizationRow>((knex, { stateHash }) =>
	knex('connections').where({ stateHash }).select(columns),
)

/** By the hash of its state, whoever it belongs to: the browser that comes back has nothing else. */
export const findAuthorization = (db: Db, stateHash: string) => db.get(byState, { stateHash })

const used = query<ConnectionKey & { stateHash: string; now: number }>((knex, { now, ...key }) =>
	knex('connections').where(key).whereNull('stateUsedAt').update({ stateUsedAt: now, stateVerifier: null }),
)

/** Uses an authorization up; false when another request has. */
export const useAuthorization = async (db: Db, row: AuthorizationRow, now: number): Promise<boolean> =>
	(await db.run(used, { ...keyOf(row), stateHash: row.stateHash, now })) > 0

/** Undefined when it was used, or the server lost the sealing key. */
export const openVerifier = (secrets: Secrets, row: AuthorizationRow): string | undefined =>
	row.stateVerifier === null ? undefined : secrets.unseal(connectionVerifier, keyOf(row), row.stateVerifier)

const forgotten = query<ConnectionKey>((knex, key) =>
	knex('connections')
		.where(key)
		.update({ stateHash: null, stateVerifier: null, stateBrowser: null, returnUrl: null, linkHash: null, linkReturnUrl: null }),
)

/** Ends the authorization that is under way, and the link. The caller holds the row's lock. */
export const forgetAuthorization = (db: Db, row: ConnectionKey) => db.run(forgotten, keyOf(row))

const remembered = query<ConnectionKey, { stateHash: string | null }>((knex, key) =>
	knex('connections').where(key).select('stateHash'),
)

/** Whether no `forgetAuthorization` came after it. */
export const isRemembered = async (db: Db, row: ConnectionKey): Promise<boolean> =>
	((await db.get(remembered, keyOf(row)))?.stateHash ?? null) !== null
