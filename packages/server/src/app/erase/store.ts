// The queries of an erasure, made from the list of tables. They run in parts, so that a server beside them waits for none.
import type { Knex } from 'knex'
import { asNumber, type Db, type Placeholders, type Query, query } from '../../platform/db/database.ts'
import type { ErasableTable } from '../../platform/db/erasable.ts'

export interface Erasure {
	readonly organizationId: string
	readonly id: string
	readonly kind: 'organization' | 'person'
	/** The user who ran the command; null for one without a name. */
	readonly erasedBy: string | null
	readonly startedAt: number
	readonly finishedAt: number | null
	readonly rowCount: number
}

const insert = query<Erasure>((knex, row) => knex('erasures').insert(row))

export const insertErasure = (db: Db, erasure: Erasure) => db.run(insert, erasure)

const finish = query<Pick<Erasure, 'organizationId' | 'id' | 'finishedAt' | 'rowCount'>>(
	(knex, { organizationId, id, ...columns }) => knex('erasures').where({ organizationId, id }).update(columns),
)

export const finishErasure = (db: Db, erasure: Erasure) => {
	const { organizationId, id, finishedAt, rowCount } = erasure
	return db.run(finish, { organizationId, id, finishedAt, rowCount })
}

type Part = { organizationId: string; limit: number; erasedAt: number }

/** Deletes the next rows of an organization; those of a table that is append only are blanked. */
export const erasePart = (table: string, { key, appendOnly }: ErasableTable): Query<Part, unknown> =>
	query((knex, { organizationId, limit, erasedAt }) => {
		const columns = ['organizationId', ...key]
		const next = knex(table).where({ organizationId }).select(columns).limit(asNumber(limit))
		if (appendOnly) next.whereNull('erasedAt')
		const rows = knex(table).whereIn(columns, next as never)
		return appendOnly ? rows.update(erased(appendOnly, erasedAt) as never) : rows.delete()
	})

/** What is written over a row of a table that is append only. */
export const erased = (appendOnly: readonly string[], erasedAt: unknown): Row => ({
	...Object.fromEntries(appendOnly.map((column) => [column, null])),
	erasedAt,
})

const personal = [
	...['contactName', 'addressLine1', 'addressLine2', 'city', 'state', 'postalCode', 'country', 'email', 'phone'],
	...['taxId', 'vatId', 'registration', 'bankAccount', 'footer', 'paymentTerms', 'logo', 'accentColor'],
]

const blank = query<{ organizationId: string; updatedAt: number }>((knex, { organizationId, updatedAt }) =>
	knex('organizations')
		.where({ organizationId })
		.update({ name: 'Erased', updatedAt, ...Object.fromEntries(personal.map((column) => [column, null])) }),
)

export const blankOrganization = (db: Db, organizationId: string, updatedAt: number) =>
	db.run(blank, { organizationId, updatedAt })

export type Row = Record<string, unknown>

/** The keys of the rows after `after` in which one of the columns has one of `needles` texts, also as a part of a longer word. */
export function findPart(table: string, { key, keep, appendOnly }: ErasableTable, columns: readonly string[], needles: number) {
	return query<Row & { organizationId: string; limit: number }, Row>((knex, { organizationId, limit, ...values }, dialect) => {
		const like = dialect === 'sqlite' ? `like ? escape '\\'` : 'ilike ?'
		const found = knex(table)
			.where({ organizationId })
			.where((any) => {
				for (const column of columns)
					for (let needle = 0; needle < needles; needle++)
						any.orWhereRaw(`cast(?? as text) ${like}`, [column, values[`needle${needle}`] as never])
			})
			.select([...key])
			.orderBy([...key])
			.limit(asNumber(limit))
		if (keep === 'issued') found.where({ status: 'draft' })
		if (appendOnly) found.whereNull('erasedAt')
		if ('after0' in values) {
			const places = key.map((_, index) => values[`after${index}`] as never)
			found.whereRaw(`(${key.map(() => '??').join(', ')}) > (${key.map(() => '?').join(', ')})`, [...key, ...places])
		}
		return found
	})
}

/** A row that an erasure may still change, locked for the rest of the transaction. */
export const lockRow = (table: string, { keep, appendOnly }: ErasableTable) =>
	query<Row & { organizationId: string }, Row>((knex, own) => {
		const row = knex(table)
			.where(own as never)
			.select('*')
			.forUpdate()
		if (keep === 'issued') row.where({ status: 'draft' })
		if (appendOnly) row.whereNull('erasedAt')
		return row
	})

export const updateRow = (table: string, { key }: ErasableTable) =>
	query<Row & { organizationId: string }>((knex, { organizationId, ...values }) => {
		const own = Object.fromEntries(key.map((column) => [column, values[column]]))
		const rest = Object.fromEntries(Object.entries(values).filter(([column]) => !key.includes(column)))
		return knex(table)
			.where({ organizationId, ...own } as never)
			.update(rest as never)
	})

const mail = query<{ organizationId: string; id: string }, Row>((knex, key) => knex('mails').where(key).select('*'))

export const findMail = (db: Db, organizationId: string, id: string) => db.get(mail, { organizationId, id })

/** The ids of drafts of which no mail is under way or was perhaps sent: what a client may have stays kept. */
const draftsThatNobodyHas = (knex: Knex, organizationId: Placeholders<{ id: string }>['id']) =>
	knex('invoices as i')
		.where('i.organizationId', organizationId)
		.where('i.status', 'draft')
		.whereNotExists(
			knex('mails as m')
				.where('m.organizationId', organizationId)
				.where('m.resourceId', knex.ref('i.id'))
				.where('m.kind', 'invoice')
				.whereIn('m.status', ['sending', 'uncertain'])
				.select('m.id'),
		)
		.select('i.id')

const ofDrafts = query<{ organizationId: string; limit: number }, { id: string; invoiceId: string }>(
	(knex, { organizationId, limit }) =>
		knex('documents')
			.where({ organizationId })
			.whereIn('invoiceId', draftsThatNobodyHas(knex, organizationId))
			.orderBy('invoiceId')
			.limit(asNumber(limit))
			.select('id', 'invoiceId'),
)

const removeDocument = query<{ organizationId: string; id: string }>((knex, { organizationId, id }) =>
	knex('documents').where({ organizationId, id }).whereIn('invoiceId', draftsThatNobodyHas(knex, organizationId)).delete(),
)

/** The kept PDFs of invoices that were sent and are drafts again. */
export const findDocumentsOfDrafts = (db: Db, organizationId: string, limit: number) =>
	db.all(ofDrafts, { organizationId, limit })

/** Deletes a kept PDF, unless its invoice is by now no draft or being mailed. Lock the invoice first. */
export const removeKeptDocument = (db: Db, organizationId: string, id: string) => db.run(removeDocument, { organizationId, id })

const contactsOf = query<
	{ organizationId: string; id?: string; email?: string },
	{ id: string; name: string; email: string | null; phone: string | null }
>((knex, { organizationId, id, email }) => {
	const found = knex('contacts').where({ organizationId }).select('id', 'name', 'email', 'phone')
	if (id) found.where({ id })
	if (email) found.whereRaw('lower(email) = lower(?)', [email])
	return found
})

/** The contacts that are this person, by id or e-mail address, deleted ones too. */
export const findContacts = (db: Db, organizationId: string, key: { id: string } | { email: string }) =>
	db.all(contactsOf, { organizationId, ...key })
