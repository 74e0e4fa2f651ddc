// Payment links: pages of the payment processor on which the client pays an invoice.
import { type Db, query } from '../../platform/db/database.ts'
import { ensureJobs } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'

export interface PaymentLink {
	readonly organizationId: string
	readonly id: string
	readonly invoiceId: string
	readonly processor: string
	readonly externalId: string
	readonly url: string
	readonly amountCents: number
	readonly currency: string
	/** `closing`: the server still has to deactivate the page at the processor. */
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
			.where((valid) => valid.whereNull('expiresAt').orWhere('expiresAt', '>', now))
			.select('*')
			.orderBy([
				{ column: 'createdAt', order: 'desc' },
				{ column: 'id', order: 'desc' },
			])
			.limit(1, { skipBinding: true }),
)

/** The link by which an invoice can be paid now. */
export const findLiveLink = (db: Db, organizationId: string, invoiceId: string, now: number) =>
	db.get(byInvoice, { organizationId, invoiceId, now })

const byId = query<{ organizationId: string; id: string }, PaymentLink>((knex, key) =>
	knex('payment_links').where(key).select('*').forUpdate(),
)

/** The link, locked until the transaction ends. */
export const lockPaymentLink = (db: Db, organizationId: string, id: string) => db.get(byId, { organizationId, id })

const byExternalId = query<{ processor: string; externalId: string }, PaymentLink>((knex, key) =>
	knex('payment_links').where(key).select('*'),
)

/** The link with this id at its processor, in any organization: the page knows nothing but the id. */
export const findLinkByExternalId = (db: Db, processor: string, externalId: string) =>
	db.get(byExternalId, { processor, externalId })

type Status = PaymentLink['status']

const setStatus = query<{ organizationId: string; id: string; status: Status; next: Status }>((knex, { next, ...current }) =>
	knex('payment_links').where(current).update({ status: next }),
)

/** Sets the status, unless it has changed since the link was read. */
export const setLinkStatus = (db: Db, { organizationId, id, status }: PaymentLink, next: Status) =>
	db.run(setStatus, { organizationId, id, status, next })

interface Retired {
	readonly organizationId: string
	readonly invoiceId?: string
}

const close = query<Retired, { id: string }>((knex, key) =>
	knex('payment_links')
		.where({ ...key, status: 'live' })
		.update({ status: 'closing' })
		.returning('id'),
)

/** The server deactivates them at the processor soon after (payments/closing.ts). */
async function retire(db: Db, key: Retired, now: number): Promise<void> {
	const closing = await db.all(close, key)
	const resourceIds = closing.map(({ id }) => id)
	const { organizationId } = key
	if (closing.length > 0) await ensureJobs(db, { organizationId, kind: jobKinds.closeLink, resourceIds, dueAt: now })
}

/** Retires an invoice's live links. */
export const closePaymentLinks = (db: Db, { organizationId, id }: { organizationId: string; id: string }, now: number) =>
	retire(db, { organizationId, invoiceId: id }, now)

/** Retires all live links of an organization, whose account has changed. */
export const closeAllPaymentLinks = (db: Db, organizationId: string, now: number) => retire(db, { organizationId }, now)

const closing = query<{ organizationId: string; id: string }, PaymentLink>((knex, key) =>
	knex('payment_links')
		.where({ ...key, status: 'closing' })
		.select('*'),
)

/** The link, if it is still to be deactivated. */
export const findClosingLink = (db: Db, organizationId: string, id: string) => db.get(closing, { organizationId, id })
