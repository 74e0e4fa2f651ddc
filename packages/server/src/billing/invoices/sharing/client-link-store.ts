// The link by which a client sees an invoice without a key. The database has its token's hash, by which it is found, and the token
// sealed, so that it can be shown again: a copy of the database opens no invoice.
import { nanoid } from 'nanoid'
import { recordChange, type Writing } from '../../../platform/db/audit-log.ts'
import { type Db, query } from '../../../platform/db/database.ts'
import { hashOfToken, type LinkRow, makeClientToken, openClientToken } from '../../../platform/outside/client-token.ts'
import type { Secrets } from '../../../platform/outside/secrets.ts'
import { audited } from '../events.ts'

interface ClientLink extends LinkRow {
	readonly createdAt: number
}

/** A link that is not stored yet. */
interface NewLink extends LinkRow {
	readonly token: string
}

type Key = Pick<ClientLink, 'organizationId' | 'invoiceId'>

const byInvoice = query<Key, ClientLink>((knex, key) => knex('client_links').where(key).select('*'))

/** The token of an invoice's link; undefined when there is no link, or when the server has lost its key. */
export async function findClientToken(db: Db, secrets: Secrets, { organizationId, id }: Owner): Promise<string | undefined> {
	const link = await db.get(byInvoice, { organizationId, invoiceId: id })
	return link && openClientToken(secrets, link)?.text
}

interface Owner {
	readonly organizationId: string
	readonly id: string
}

const put = query<ClientLink>((knex, row) => knex('client_links').insert(row).onConflict(['organizationId', 'invoiceId']).merge())

export function newClientLink(secrets: Secrets, { organizationId, id: invoiceId }: Owner): NewLink {
	const link = { organizationId, invoiceId, nonce: nanoid() }
	return { ...link, ...makeClientToken(secrets, link) }
}

/** The token of an invoice's link; stores `link` when there is none. The caller holds the invoice's lock. */
export async function getOrCreateClientToken(
	write: Writing,
	secrets: Secrets,
	owner: Owner,
	link: NewLink = newClientLink(secrets, owner),
): Promise<string> {
	const { db, origin } = write
	const known = await findClientToken(db, secrets, owner)
	if (known !== undefined) return known
	const { token, ...stored } = link
	await db.run(put, { ...stored, createdAt: origin.now })
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

/** What a token opens. */
export interface OpenLink extends Key {
	readonly timeZone: string
	/** When a client saw the invoice first. */
	readonly viewedAt: number | null
}

const byToken = query<{ tokenHash: string }, OpenLink>((knex, { tokenHash }) =>
	knex('client_links')
		.join('invoices', { 'invoices.organizationId': 'client_links.organizationId', 'invoices.id': 'client_links.invoiceId' })
		.join('organizations', { 'organizations.organizationId': 'client_links.organizationId' })
		.where({ tokenHash })
		.whereRaw(`(status <> 'draft' or "publishDrafts")`)
		.select('client_links.organizationId', 'client_links.invoiceId', 'organizations.timeZone', 'invoices.viewedAt'),
)

/** The invoice that a token opens: in an organization that does not publish its drafts, no draft. */
export const findByToken = (db: Db, token: string) => db.get(byToken, { tokenHash: hashOfToken(token) })

/** The page that a token opens. */
export const clientUrl = (baseUrl: string, token: string) => `${baseUrl}/view/invoice/${token}`
