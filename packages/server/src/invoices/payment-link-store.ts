// Links to pages of the payment processor by which an invoice can be paid.
import { type Db, query } from '../db/database.ts'

export interface PaymentLink {
	readonly organizationId: string
	readonly id: string
	readonly invoiceId: string
	readonly processor: string
	readonly externalId: string
	readonly url: string
	readonly amountCents: number
	readonly currency: string
	/** `closing`: to be deactivated at the processor. */
	readonly status: 'live' | 'closing' | 'closed' | 'paid'
	readonly expiresAt: number | null
	readonly createdAt: number
}

const insert = query<PaymentLink>((knex, row) => knex('payment_links').insert(row))

export const insertPaymentLink = (db: Db, link: PaymentLink) => db.run(insert, link)

const byInvoice = query<{ organizationId: string; invoiceId: string; now: number }, PaymentLink>(
	(knex, { organizationId, invoiceId, now }) =>
		knex('payment_links')
			.where({ organizationId, invoiceId, status: 'live' })
			.where((still) => still.whereNull('expiresAt').orWhere('expiresAt', '>', now))
			.select('*')
			.orderBy([
				{ column: 'createdAt', order: 'desc' },
				{ column: 'id', order: 'desc' },
			])
			.limit(1, { skipBinding: true }),
)

/** The link of an invoice by which it can be paid now. */
export const findLiveLink = (db: Db, organizationId: string, invoiceId: string, now: number) =>
	db.get(byInvoice, { organizationId, invoiceId, now })

const byId = query<{ organizationId: string; id: string }, PaymentLink>((knex, key) =>
	knex('payment_links').where(key).select('*').forUpdate(),
)

/** The link, locked until the transaction ends. */
export const lockPaymentLink = (db: Db, organizationId: string, id: string) => db.get(byId, { organizationId, id })

const byExternalId = query<{ processor: string; externalId: string }, PaymentLink>((knex, key) =>
	knex('payment_links')
		.where({ ...key, status: 'live' })
		.select('*'),
)

/** The live link with this id at its processor: for a page of which the id is all that is known. */
export const findLinkByExternalId = (db: Db, processor: string, externalId: string) =>
	db.get(byExternalId, { processor, externalId })

type Status = PaymentLink['status']

const setStatus = query<{ organizationId: string; id: string; status: Status; next: Status }>((knex, { next, ...as }) =>
	knex('payment_links').where(as).update({ status: next }),
)

/** Unless the link has another status since it was read. */
export const setLinkStatus = (db: Db, { organizationId, id, status }: PaymentLink, next: Status) =>
	db.run(setStatus, { organizationId, id, status, next })

const close = query<{ organizationId: string; invoiceId: string }>((knex, { organizationId, invoiceId }) =>
	knex('payment_links').where({ organizationId, invoiceId, status: 'live' }).update({ status: 'closing' }),
)

/** Nobody is to pay by an invoice's links any more. They are deactivated at the processor soon after (closing.ts). */
export const closePaymentLinks = (db: Db, { organizationId, id }: { organizationId: string; id: string }) =>
	db.run(close, { organizationId, invoiceId: id })

const closing = query<{ organizationId: string }, PaymentLink>((knex, { organizationId }) =>
	knex('payment_links').where({ organizationId, status: 'closing' }).select('*').limit(100, { skipBinding: true }),
)

export const listClosingLinks = (db: Db, organizationId: string) => db.all(closing, { organizationId })
