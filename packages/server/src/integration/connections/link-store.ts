// Links by which a person connects an account without a key of the API: the last one of each connection. Its token is stored as a hash only.
import { hash, randomBytes } from 'node:crypto'
import { type Db, query } from '../../platform/db/database.ts'
import type { ConnectionKey } from './store.ts'

export interface LinkRow extends ConnectionKey {
	readonly linkHash: string
	readonly linkExpiresAt: number
	readonly linkUsedAt: number | null
	readonly linkTries: number
	readonly linkReturnUrl: string | null
}

/** 256 random bits. */
export const randomToken = () => randomBytes(32).toString('base64url')

export const hashOfSecret = (secret: string) => hash('sha256', secret, 'base64url')

/** How often credentials may be tested by one link: each is a call to the provider that a stranger asks for. */
export const mostTries = 20

type NewLink = Pick<LinkRow, 'linkHash' | 'linkExpiresAt' | 'linkReturnUrl'>

const fresh = { linkUsedAt: null, linkTries: 0, stateHash: null, stateVerifier: null, stateBrowser: null, returnUrl: null }

const made = query<ConnectionKey & NewLink>((knex, { organizationId, id, ...columns }) =>
	knex('connections')
		.where({ organizationId, id })
		.update({ ...columns, ...fresh }),
)

/** Replaces the link before, and ends the authorization that is under way. The caller holds the row's lock. */
export const saveLink = (db: Db, { organizationId, id }: ConnectionKey, link: NewLink) =>
	db.run(made, { organizationId, id, ...link })

const byHash = query<{ linkHash: string }, LinkRow>((knex, { linkHash }) =>
	knex('connections')
		.where({ linkHash })
		.select('organizationId', 'id', 'linkHash', 'linkExpiresAt', 'linkUsedAt', 'linkTries', 'linkReturnUrl'),
)

/** By its token, whoever it belongs to. */
export const findLink = (db: Db, token: string) => db.get(byHash, { linkHash: hashOfSecret(token) })

type Key = ConnectionKey & { readonly linkHash: string }

const keyOf = ({ organizationId, id, linkHash }: Key) => ({ organizationId, id, linkHash })

const tried = query<Key>((knex, key) =>
	knex('connections')
		.where(key)
		.whereNull('linkUsedAt')
		.whereRaw(`"linkTries" < ${mostTries}`)
		.update({ linkTries: knex.raw('?? + 1', ['linkTries']) }),
)

/** Counts a try; false when there is none left, or the link is another or used by now. */
export const countTry = async (db: Db, row: Key): Promise<boolean> => (await db.run(tried, keyOf(row))) > 0

const used = query<ConnectionKey & { readonly linkHash?: string; readonly now: number }>((knex, { now, ...key }) =>
	knex('connections').where(key).whereNotNull('linkHash').whereNull('linkUsedAt').update({ linkUsedAt: now }),
)

/** Uses a link up; false when it was, or is another by now. */
export const consumeLink = async (db: Db, row: Key, now: number): Promise<boolean> =>
	(await db.run(used, { ...keyOf(row), now })) > 0

/** Uses up the link by which the authorization that is under way was begun. */
export const consumeLinkOf = (db: Db, { organizationId, id }: ConnectionKey, now: number) =>
	db.run(used, { organizationId, id, now })
