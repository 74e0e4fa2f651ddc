// The PDFs of sent invoices, kept as bytes. A row stands for what the invoice showed then: the same again is answered with the same
// bytes, whatever templates, fonts and words a later version of the server has.
import { hash } from 'node:crypto'
import { newTimedId } from '../../../platform/base/ids.ts'
import type { Origin } from '../../../platform/base/origin.ts'
import { type Db, query } from '../../../platform/db/database.ts'
import type { PresentSource } from './present.ts'

interface Key {
	readonly organizationId: string
	readonly invoiceId: string
	readonly contentHash: string
}

interface KeptDocument extends Key {
	readonly id: string
	/** Of the bytes, in hexadecimal. */
	readonly sha256: string
	readonly size: number
	readonly bytes: Uint8Array
	readonly createdAt: number
}

const byContent = query<Key, { bytes: Uint8Array }>((knex, key) => knex('documents').where(key).select('bytes'))

/** The bytes that were kept of an invoice that showed the same. */
export const findDocument = async (db: Db, key: Key) => (await db.get(byContent, key))?.bytes

const insert = query<KeptDocument>((knex, row) =>
	knex('documents').insert(row).onConflict(['organizationId', 'invoiceId', 'contentHash']).ignore(),
)

/** Keeps the bytes, unless those of another request are kept already. */
export async function keepDocument(db: Db, { now, meter }: Origin, key: Key, bytes: Uint8Array): Promise<void> {
	const size = bytes.byteLength
	if (meter) meter.bytes += size
	await db.run(insert, { ...key, id: newTimedId('doc', now), sha256: hash('sha256', bytes), size, bytes, createdAt: now })
}

/** Hash of all that the document shows: of the facts, and not of the words that this version of the server has for them. */
export function contentHashOf({ invoice, language, branding: looks, logoData, viewUrl, ...others }: PresentSource): string {
	// The parties are among the others; the rest of these is not printed.
	const {
		billTo,
		billFrom,
		language: _,
		branding,
		locale,
		timeZone,
		sentAt,
		viewedAt,
		viewCount,
		updatedAt,
		version,
		...written
	} = invoice
	const { dealId, companyId, isOverdue, paymentState, amountCreditedCents, timeRounding, timeRoundingMinutes, ...shown } = written
	// Versions without these kept documents in English, without logo and colour, and knew no credit. The page to pay is the page to view.
	const later = {
		amountCreditedCents: amountCreditedCents || null,
		language: language === 'en' ? null : language,
		accentColor: looks?.accentColor ?? null,
		viewUrl: viewUrl === others.paymentUrl ? null : viewUrl,
		logo: (logoData && looks?.logo?.sha256) || null,
	}
	return hash('sha256', JSON.stringify({ shown, ...others, ...later }, inOrder))
}

/**
 * The members of each object in one order, as the database's differs from the contract's, and without those that are null: a version
 * with more fields finds what was kept before it.
 */
const inOrder = (_: string, value: unknown): unknown =>
	typeof value === 'object' && value !== null && !Array.isArray(value)
		? Object.fromEntries(
				Object.entries(value)
					.filter(([name, member]) => member !== null && name !== 'metadata')
					.sort(([one], [other]) => (one < other ? -1 : 1)),
			)
		: value
