// Every mail that was ever tried, as a row that is there before the mail server is asked.
import type { Knex } from 'knex'
import type { InvoiceEmail } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { beginningOf } from '../base/ids.ts'
import { asNumber, type Db, type Dialect, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import { listOf } from '../db/list-of.ts'
import type { PageQuery } from '../db/pages.ts'

export interface StoredMail extends Omit<InvoiceEmail, 'invoiceId'> {
	readonly kind: 'invoice' | 'invitation' | 'password_reset'
	/** The id of what it brings. */
	readonly resourceId: string
	/** The request with an `Idempotency-Key` that asked for it; else null. */
	readonly requestKey: string | null
	readonly recipientCount: number
	/** While it is `sending`: when its process counts as dead. */
	readonly leaseUntil: number | null
}

/** What became of a mail. */
export type MailOutcome = Pick<StoredMail, 'reason' | 'recipients'> & {
	readonly status: Exclude<StoredMail['status'], 'sending'>
}

interface Key {
	readonly organizationId: string
	readonly id: string
}

/** What mails bring: an invoice, or a link to a person. */
type Subject = Key

interface OfResource {
	readonly organizationId: string
	readonly resourceId: string
}

const insert = query<StoredMail>((knex, row) => knex('mails').insert(row))

export const insertMail = (db: Db, mail: StoredMail) => db.run(insert, mail)

/** The part of a mail by which the next one is judged. */
export type MailState = Pick<StoredMail, 'organizationId' | 'id' | 'resourceId' | 'status' | 'leaseUntil' | 'createdAt'>

const state = ['organizationId', 'id', 'resourceId', 'status', 'leaseUntil', 'createdAt'] as const

const locked = query<Key, MailState>((knex, key) =>
	knex('mails')
		.where(key)
		.select(...state)
		.forUpdate(),
)

export const lockMail = (db: Db, { organizationId, id }: Key) => db.get(locked, { organizationId, id })

const conclusion = query<MailOutcome & Key & { updatedAt: number }>((knex, { organizationId, id, ...columns }) =>
	knex('mails')
		.where({ organizationId, id })
		.update({ ...columns, leaseUntil: null }),
)

/** Writes what became of a mail that was read with `lockMail`. */
export const updateMail = (db: Db, { organizationId, id }: Key, outcome: MailOutcome, now: number) =>
	db.run(conclusion, { ...outcome, organizationId, id, updatedAt: now })

const latest = query<OfResource & { requestKey?: string; since?: number }, MailState>(
	(knex, { organizationId, resourceId, requestKey, since }) => {
		const rows = knex('mails')
			.where({ organizationId, resourceId })
			.whereNot('status', 'failed')
			.select(...state)
			.orderBy('id', 'desc')
			.limit(1)
		return requestKey === undefined || since === undefined ? rows : rows.where({ requestKey }).where('createdAt', '>', since)
	},
)

/** The newest mail about a record that has, or may have, left. */
export const findLatestMail = (db: Db, { organizationId, id }: Subject) => db.get(latest, { organizationId, resourceId: id })

/** The mail that has, or may have, left for an earlier request with the same `Idempotency-Key`. */
export const findMailOfRequest = (db: Db, { organizationId, id }: Subject, requestKey: string, since: number) =>
	db.get(latest, { organizationId, resourceId: id, requestKey, since })

const recipients = query<{ organizationId: string; first: string }, { count: number }>((knex, { organizationId, first }) =>
	knex('mails').where({ organizationId }).where('id', '>=', first).sum({ count: 'recipientCount' }),
)

/** The recipients of an organization's mails since a time. */
export async function countRecipients(db: Db, organizationId: string, since: number): Promise<number> {
	const row = await db.get(recipients, { organizationId, first: beginningOf('mail', since) })
	return row?.count ?? 0
}

interface Oldest {
	readonly organizationId: string
	readonly first: string
	readonly count: number
}

const lastOfOldest = query<Oldest, { createdAt: number }>((knex, { organizationId, first, count }) =>
	knex
		.from(
			knex('mails')
				.where({ organizationId })
				.where('id', '>=', first)
				.select('createdAt', knex.raw('sum("recipientCount") over (order by id) as "soFar"'))
				.as('mail'),
		)
		.where('soFar', '>=', count)
		.min({ createdAt: 'createdAt' }),
)

/** When the last of those mails since a time was made that together have the oldest `count` recipients. */
export async function timeOfOldest(db: Db, organizationId: string, since: number, count: number): Promise<number | undefined> {
	const row = await db.get(lastOfOldest, { organizationId, first: beginningOf('mail', since), count })
	return row?.createdAt ?? undefined
}

/** No mail is held for longer. A lease that ends later was taken before the clock was set back. */
const longestLeaseMs = 120_000

/** Whether the mail was perhaps sent: a process that held it past its lease is dead. */
export const isUncertain = ({ status, leaseUntil }: MailState, now: number) =>
	status === 'uncertain' ||
	(status === 'sending' && leaseUntil !== null && (leaseUntil <= now || leaseUntil > now + longestLeaseMs))

const lost = query<{ now: number; latest: number; limit: number }, MailState>((knex, { now, latest, limit }) => {
	const some = (operator: '<=' | '>', time: Knex.Value) =>
		knex('mails')
			// In words, so that the planner knows the partial index to fit.
			.whereRaw(`status = 'sending'`)
			.where('leaseUntil', operator, time)
			.select(...state)
	return knex
		.from(some('<=', now).unionAll(some('>', latest)).as('some'))
		.limit(asNumber(limit))
		.select(...state)
})

/** Mails of all organizations whose process died before it wrote what became of them. */
export const findLostMails = (db: Db, now: number, limit: number) => db.all(lost, { now, latest: now + longestLeaseMs, limit })

const emailJson = (knex: Knex, dialect: Dialect) =>
	jsonColumn(knex, dialect, fields.InvoiceEmail, { invoiceId: knex.ref('resourceId') })

const one = query<Key, { json: string }>((knex, key, dialect) => knex('mails').where(key).select(emailJson(knex, dialect)))

/** A mail about an invoice as JSON text. */
export const readEmail = async (db: Db, { organizationId, id }: Key): Promise<string | undefined> =>
	(await db.get(one, { organizationId, id }))?.json

const list = listOf<OfResource>({
	table: 'mails',
	order: { column: 'id', direction: 'desc' },
	matching: (knex, of) => knex('mails').where(of),
	columns: emailJson,
})

/** The mails about an invoice as JSON texts, newest first. */
export const readEmails = (db: Db, { organizationId, id }: Subject, page: PageQuery) =>
	list.readCounted(db, { organizationId, resourceId: id }, page)
