// Sends an invoice by e-mail, at most once for each request: a row says that the mail is being sent before the mail server is
// asked, and what became of it afterwards. The invoice is changed only once the mail server has accepted the e-mail.

import type { InvoiceSend, InvoiceWarning } from '../../../generated/contract.ts'
import type { Caller } from '../../../platform/auth/caller.ts'
import { todayIn } from '../../../platform/base/dates.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import { newTimedId } from '../../../platform/base/ids.ts'
import type { Transaction } from '../../../platform/db/database.ts'
import type { OrderedOrigin } from '../../../platform/db/write-context.ts'
import { type SelfManagedContext, writeContext } from '../../../platform/http/handler.ts'
import { countOf } from '../../../platform/mails/limits.ts'
import { insertMail, type MailOutcome, type StoredMail } from '../../../platform/mails/store.ts'
import { MailError } from '../../../platform/outside/mail/delivery.ts'
import { type Mail, type MailContent, type Mailer, mailTimeoutMs } from '../../../platform/outside/mail/mail.ts'
import { persist } from '../../../platform/work/persist.ts'
import { applyInput } from '../apply.ts'
import type { StoredInvoice } from '../invoice.ts'
import { draftNumber } from '../numbers/series.ts'
import { documentWarnings, keepLogo } from '../snapshot.ts'
import { warned } from '../status.ts'
import { requireInvoice, requireLockedInvoice } from '../store.ts'
import { changeInvoice } from '../write.ts'
import { admit, outcomeUnknown } from './admit.ts'
import { findClientToken, getOrCreateClientToken, newClientLink } from './client-link-store.ts'
import { compose } from './compose.ts'
import { concludeMail, type Mailed, sending } from './conclude.ts'

/** How long a mail may be under way: the mail server's time, and as long again for what became of it to be stored. */
const leaseMs = 2 * mailTimeoutMs

/** How often an e-mail is made because its invoice, or the logo or the client link on it, changed meanwhile. */
const tries = 3

export async function sendInvoice(context: SelfManagedContext, caller: Caller, id: string, request: InvoiceSend) {
	const { db, services, now } = context
	const invoice = await requireInvoice(db, caller.organizationId, id)
	requireMailer(services.mailer)
	const done = (warnings: ReturnType<typeof warned>) => ({ status: 200 as const, body: { ok: true as const, ...warnings } })
	const sentBefore = async () => done(warned(invoice, false, await documentWarnings(db, invoice, now)))
	if ((await admit(db, context, caller, invoice, request)) === undefined) return sentBefore()
	const begun = await begin(context, caller, id, request)
	if (!begun) return sentBefore()
	const { row, content, mailed, warningsIf } = begun
	const { error, ...outcome } = await deliver(services.mailer, { ...content, messageId: row.messageId })
	const conclude = (tx: Transaction, origin: OrderedOrigin) =>
		concludeMail(writeContext({ db: tx, origin }, caller), row, outcome, mailed)
	if (error) {
		await persist(() => context.change(conclude)).catch(() => {})
		throw error
	}
	return persist(() =>
		context.commit(async (tx, origin) => done(warningsIf(await conclude(tx, origin), refusedCopies(outcome)))),
	).catch((cause) => {
		if (cause instanceof ApiError) throw cause
		const detail = 'The mail server has taken the e-mail, but the database fails. The invoice becomes sent once it works again.'
		throw new ApiError('email_outcome_unknown', detail, { cause })
	})
}

interface Begun {
	readonly row: StoredMail
	readonly content: MailContent
	readonly mailed: Mailed
	/** Of the invoice as it is mailed. */
	readonly warningsIf: (isChanged: boolean, refused: readonly InvoiceWarning[]) => ReturnType<typeof warned>
}

/** Makes the e-mail, and stores that it is being sent; undefined when an earlier request with the same `Idempotency-Key` has sent it. */
async function begin(context: SelfManagedContext, caller: Caller, id: string, request: InvoiceSend): Promise<Begun | undefined> {
	const { db, now, services, requestKey, origin } = context
	const started = performance.now()
	const moment = { now, today: todayIn(caller.organization.timeZone, now) }
	for (let attempt = 1; attempt <= tries; attempt++) {
		const invoice = await giveNumber(context, caller, await requireInvoice(db, caller.organizationId, id))
		const { version } = invoice
		const made = newClientLink(services.secrets, invoice)
		const token = request.link === false ? undefined : ((await findClientToken(db, services.secrets, invoice)) ?? made.token)
		const sent = applyInput(invoice, sending(invoice, now) ?? {}, moment)
		const { content, pdf, snapshot } = await compose(context, sent, request, token)
		const texts = await documentWarnings(db, { ...sent, ...snapshot }, now)
		const leaseUntil = now + Math.ceil(performance.now() - started) + leaseMs
		const claimed = await db.transaction(async (tx) => {
			const current = await requireLockedInvoice(tx, caller.organizationId, id)
			const createdAt = await admit(tx, context, caller, current, request)
			if (createdAt === undefined) return 'sent'
			if (current.version !== version || !(await keepLogo(tx, current, snapshot, now))) return 'changed'
			const write = { db: tx, origin }
			if (token !== undefined && (await getOrCreateClientToken(write, services.secrets, current, made)) !== token)
				return 'changed'
			const row = newRow(services.mailer, content, current, { createdAt, leaseUntil, requestKey })
			await insertMail(tx, row)
			// What was perhaps mailed is kept, whatever becomes of it.
			await pdf.keep?.(tx)
			return row
		}, caller)
		if (claimed === 'sent') return undefined
		const warningsIf: Begun['warningsIf'] = (isChanged, refused) => warned(sent, isChanged, [...texts, ...refused])
		if (claimed !== 'changed') return { row: claimed, content, mailed: { version, snapshot }, warningsIf }
	}
	throw new ApiError('email_delivery_failed', 'The invoice changed again and again while its e-mail was made: nothing was sent.')
}

/** An invoice that has no number yet keeps the one that it gets here, whatever becomes of the e-mail that shows it. */
async function giveNumber({ change }: SelfManagedContext, caller: Caller, invoice: StoredInvoice): Promise<StoredInvoice> {
	const { organizationId, id, invoiceNumber } = invoice
	if (invoiceNumber !== draftNumber(id)) return invoice
	return change(async (tx, origin) => {
		const stored = await requireLockedInvoice(tx, organizationId, id)
		await changeInvoice(writeContext({ db: tx, origin }, caller), stored, { takesNumber: true })
		return requireInvoice(tx, organizationId, id)
	})
}

function requireMailer({ configured, missing }: Mailer): void {
	if (configured) return
	throw new ApiError('email_not_configured', `The server cannot send e-mail: set ${missing.join(' and ')}.`)
}

type Claim = Pick<StoredMail, 'createdAt' | 'leaseUntil' | 'requestKey'>

function newRow(
	mailer: Mailer,
	content: MailContent,
	{ organizationId, id: resourceId }: StoredInvoice,
	claim: Claim,
): StoredMail {
	const { to, cc, bcc, replyTo, subject } = content
	const id = newTimedId('mail', claim.createdAt)
	return {
		organizationId,
		id,
		kind: 'invoice',
		resourceId,
		to,
		cc: [...cc],
		bcc: [...bcc],
		replyTo,
		subject,
		messageId: mailer.messageId(id),
		status: 'sending',
		reason: null,
		recipients: [],
		recipientCount: countOf(content),
		updatedAt: claim.createdAt,
		...claim,
	}
}

/** Of a mail that was taken for `to`. */
const refusedCopies = ({ recipients }: MailOutcome): InvoiceWarning[] =>
	recipients
		.filter(({ accepted }) => !accepted)
		.map(({ address, answer }) => ({
			code: 'copy_refused',
			detail: `The mail server answered "${answer}" for ${address}: this copy was not sent.`,
		}))

/** Asks the mail server. `error` is for the caller, unless the mail was accepted. */
async function deliver(mailer: Mailer, mail: Mail): Promise<MailOutcome & { error?: ApiError }> {
	try {
		return { status: 'accepted', reason: null, recipients: [...(await mailer.send(mail))] }
	} catch (error) {
		if (!(error instanceof MailError)) throw error
		const { message: reason, uncertain, recipients } = error
		const failure = { reason, recipients: [...recipients] }
		if (uncertain) return { status: 'uncertain', ...failure, error: outcomeUnknown(reason, error) }
		return { status: 'failed', ...failure, error: new ApiError('email_delivery_failed', reason, { cause: error }) }
	}
}
