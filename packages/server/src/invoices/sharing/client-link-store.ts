// The link by which a client sees an invoice without a key. Its token is made of a nonce in the row and a secret outside the
// database, and the database has only the token's hash: a copy of the database opens no invoice.
import { hash } from 'node:crypto'
import { nanoid } from 'nanoid'
import { recordChange, type Writing } from '../../db/audit-log.ts'
import { type Db, query } from '../../db/database.ts'
import type { Secrets } from '../../outside/secrets.ts'
import { audited } from '../events.ts'

interface ClientLink {
	readonly organizationId: string
	readonly invoiceId: string
	readonly nonce: string
	readonly tokenHash: string
	readonly createdAt: number
}

type Key = Pick<ClientLink, 'organizationId' | 'invoiceId'>

const byInvoice = query<Key, ClientLink>((knex, key) => knex('client_links').where(key).select('*'))

/** The token of an invoice's link; undefined when there is no link, or when the server has lost the link's secret. */
export async function findClientToken(db: Db, secrets: Secrets, { organizationId, id }: Owner): Promise<string | undefined> {
	const link = await db.get(byInvoice, { organizationId, invoiceId: id })
	return link && tokensOf(secrets, link).find((token) => hashOf(token) === link.tokenHash)
}

interface Owner {
	readonly organizationId: string
	readonly id: string
}

const put = query<ClientLink>((knex, row) => knex('client_links').insert(row).onConflict(['organizationId', 'invoiceId']).merge())

/** The token of an invoice's link; creates the link when there is none. The caller holds the invoice's lock. */
export async function getOrCreateClientToken(write: Writing, secrets: Secrets, owner: Owner): Promise<string> {
	const { db, origin } = write
	const known = await findClientToken(db, secrets, owner)
	if (known !== undefined) return known
	const link = { organizationId: owner.organizationId, invoiceId: owner.id, nonce: nanoid() }
	const [token] = tokensOf(secrets, link) as [string]
	await db.run(put, { ...link, tokenHash: hashOf(token), createdAt: origin.now })
	await recordChange(write, { ...audited(owner), action: 'shared' })
	return token
}

const remove = query<Key>((knex, key) => knex('client_links').where(key).delete())

/** Revokes an invoice's link; false when there is none. */
export async function removeClientLink(write: Writing, owner: Owner): Promise<boolean> {
	const removed = await write.db.run(remove, { organizationId: owner.organizationId, invoiceId: owner.id })
	if (removed > 0) await recordChange(write, { ...audited(owner), action: 'unshared' })
	return removed > 0
}

const byToken = query<{ tokenHash: string }, Key>((knex, { tokenHash }) =>
	knex('client_links').where({ tokenHash }).select('organizationId', 'invoiceId'),
)

/** The invoice that a token opens. */
export const findByToken = (db: Db, token: string) => db.get(byToken, { tokenHash: hashOf(token) })

const tokensOf = (secrets: Secrets, { organizationId, invoiceId, nonce }: Key & Pick<ClientLink, 'nonce'>) =>
	secrets.tokens('client link', `${organizationId} ${invoiceId} ${nonce}`)

const hashOf = (token: string) => hash('sha256', token, 'base64url')

/** The page that a token opens. */
export const clientUrl = (baseUrl: string, token: string) => `${baseUrl}/view/invoice/${token}`
