// Whether an e-mail of an invoice may leave now.

import type { InvoiceSend } from '../../../generated/contract.ts'
import type { Caller } from '../../../platform/auth/caller.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { SelfManagedContext } from '../../../platform/http/handler.ts'
import { keepMs } from '../../../platform/http/idempotency.ts'
import { requireDailyLimit, requireReachable } from '../../../platform/mails/limits.ts'
import { findLatestMail, findMailOfRequest, isUncertain } from '../../../platform/mails/store.ts'
import type { StoredInvoice } from '../invoice.ts'

/**
 * Returns the time of the new mail, which is after the invoice's last one whatever the clocks of several processes say; undefined
 * when an earlier request with the same `Idempotency-Key` has sent the mail. Throws when a mail must not leave now.
 */
export async function admit(
	db: Db,
	context: SelfManagedContext,
	caller: Caller,
	invoice: StoredInvoice,
	request: InvoiceSend,
): Promise<number | undefined> {
	const { requestKey, now, services } = context
	requireSendable(invoice)
	const own = requestKey === null ? undefined : await findMailOfRequest(db, invoice, requestKey, now - keepMs)
	if (own?.status === 'accepted') return undefined
	if (own && isUncertain(own, now)) throw outcomeUnknown('The outcome of this request was lost when it was first made.')
	const latest = own ?? (await findLatestMail(db, invoice))
	const words = `An e-mail of the invoice ${invoice.invoiceNumber}`
	if (latest?.status === 'sending' && !isUncertain(latest, now))
		throw new ApiError('email_under_way', `${words} is being sent: ask again in a minute.`)
	if (latest && isUncertain(latest, now) && !request.again)
		throw new ApiError('email_perhaps_sent', `${words} was perhaps sent: ask its recipient, or send it with "again": true.`)
	await requireReachable(db, request)
	await requireDailyLimit(db, caller.organization, request, { dailyLimit: services.mailDailyLimit, now })
	return Math.max(now, (latest?.createdAt ?? 0) + 1)
}

function requireSendable({ status, invoiceNumber }: StoredInvoice): void {
	if (status !== 'cancelled') return
	throw new ApiError('invoice_cancelled', `The invoice ${invoiceNumber} is cancelled: give it another status first.`)
}

/** The e-mail was perhaps sent. */
export const outcomeUnknown = (reason: string, cause?: unknown) =>
	new ApiError(
		'email_outcome_unknown',
		`${reason} The e-mail was perhaps sent: ask its recipient, or send it with "again": true.`,
		{ cause },
	)
