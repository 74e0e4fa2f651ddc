// What became of an invoice's mail, and of the invoice with it.

import { requireOrganization } from '../../../accounts/doors.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import { recordChange } from '../../../platform/db/audit-log.ts'
import type { Database } from '../../../platform/db/database.ts'
import { type WriteContext, writingIn } from '../../../platform/db/write-context.ts'
import { findLostMails, lockMail, type MailOutcome, type MailState, updateMail } from '../../../platform/mails/store.ts'
import type { WrittenInvoice } from '../apply.ts'
import { audited, recordEmailEvent, recordInvoiceEvents } from '../events.ts'
import type { StoredInvoice } from '../invoice.ts'
import type { Snapshot } from '../snapshot.ts'
import { lockInvoice } from '../store.ts'
import { changeInvoice } from '../write.ts'

/** The change that sending makes: a draft becomes `sent`, any other invoice only gets its dates; undefined when sent before. */
export function sending({ status, sentAt }: StoredInvoice, now: number): WrittenInvoice | undefined {
	if (status === 'draft') return { status: 'sent' }
	return sentAt === null ? { sentAt: now } : undefined
}

const failures = { accepted: undefined, failed: 'invoice.send_failed', uncertain: 'invoice.perhaps_sent' } as const

/** The invoice that a mail brings: its version, and what it shows of other records. */
export interface Mailed {
	readonly version: number
	readonly snapshot: Snapshot
}

/**
 * Writes what became of a mail, and what follows for its invoice, unless the invoice was deleted meanwhile. An invoice that changed
 * meanwhile is not the one that its client has: a draft stays one, and the answer is true. Written again, it changes nothing;
 * but a mail that counted as perhaps sent may turn out to be accepted.
 */
export async function concludeMail(
	write: WriteContext,
	mail: Pick<MailState, 'organizationId' | 'id' | 'resourceId'>,
	outcome: MailOutcome,
	mailed?: Mailed,
): Promise<boolean> {
	const { db, origin } = write
	const invoice = await lockInvoice(db, mail.organizationId, mail.resourceId)
	const stored = await lockMail(db, mail)
	if (stored?.status !== 'sending' && stored?.status !== 'uncertain') return false
	if (stored.status === outcome.status) return false
	await updateMail(db, mail, outcome, origin.now)
	if (!invoice) return false
	// A mail server may take the mail for copies although it refused it for `to`.
	if (outcome.status !== 'failed' || outcome.recipients.some(({ accepted }) => accepted))
		await recordChange(write, { ...audited(invoice), action: 'emailed', after: { mailId: mail.id, ...outcome } })
	const failure = failures[outcome.status]
	if (failure) await recordEmailEvent(write, failure, invoice, mail.id)
	if (failure || !mailed) return false
	const isChanged = invoice.version !== mailed.version
	const change = sending(invoice, origin.now)
	if (!change) await recordInvoiceEvents(write, invoice, ['invoice.sent'])
	else if (!isChanged) await changeInvoice(write, invoice, { ...change, mailed: mailed.snapshot }, ['invoice.sent'])
	else if (invoice.status !== 'draft') await changeInvoice(write, invoice, change, ['invoice.sent'])
	return isChanged
}

const batch = 50

/** Marks the mails of dead processes as perhaps sent. */
export async function concludeLostMails(db: Database, now: () => number): Promise<void> {
	const reason = 'The server ended before the mail server had answered.'
	for (const mail of await findLostMails(db, now(), batch)) {
		const organization = await requireOrganization(db, mail.organizationId)
		await db.transaction(async (tx) => {
			const write = await writingIn(tx, bySystem(now(), 'jobs.lostMails'), organization)
			await concludeMail(write, mail, { status: 'uncertain', reason, recipients: [] })
		})
	}
}
