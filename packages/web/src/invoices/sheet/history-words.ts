// What happened to an invoice, in words.
import type { HistoryEntry } from '@remit/sdk'
import { fieldName } from '../../format/names.ts'

const statusWords: Readonly<Record<string, string>> = {
	draft: 'Made a draft again',
	sent: 'Marked as sent',
	paid: 'Marked as paid',
	overdue: 'Became overdue',
	cancelled: 'Cancelled',
}

/** Fields that an invoice takes over when it is sent or paid. */
const ofStatus = /^(billTo|billFrom|issuedDate|language|payment(Method|Reference))$/

const actionWords: Readonly<Record<string, string>> = {
	created: 'Created',
	deleted: 'Deleted',
	shared: 'Client link made',
	unshared: 'Client link revoked',
	payment_requested: 'Payment link made',
	payment_received: 'Payment received',
	erased: 'Personal data erased',
}

const fieldWords: Readonly<Record<string, string>> = {
	companyId: 'Client',
	dealId: 'Deal',
	lineItems: 'Lines',
	billTo: 'Buyer',
	billFrom: 'Seller',
	invoiceNumber: 'Number',
	issuedDate: 'Date of issue',
}

/** Fields that follow from others: to name them says nothing. */
const derived =
	/^(status|updatedAt|version|subtotalCents|taxCents|totalCents|taxBreakdown|amount\w+Cents|paymentState|isOverdue|paidDate|sentAt|locale|timeZone|branding|view\w+)$/

export function wordsOf(entry: HistoryEntry): string {
	const { action, before, after } = entry
	if (action === 'emailed') return emailWords(after)
	if (action !== 'updated') return actionWords[action] ?? fieldName(action)
	const isMoved = after?.status !== before?.status
	const names = Object.keys(after ?? {}).filter((name) => !derived.test(name) && !(isMoved && ofStatus.test(name)))
	const parts = [names.length > 0 && changeWords(names), paymentWords(entry), isMoved && statusChange(entry, names.length > 0)]
	return parts.filter(Boolean).join('. ') || 'Changed'
}

/** The currency and the lines change what is paid of an invoice as well. */
function paymentWords({ operation, before, after }: HistoryEntry): string | undefined {
	const [earlier, now] = [before?.amountPaidCents, after?.amountPaidCents]
	if (typeof earlier !== 'number' || typeof now !== 'number' || operation === 'invoices.update') return undefined
	return Math.abs(now) > Math.abs(earlier) ? 'Payment recorded' : 'Payment reversed'
}

/** A status that follows from something else is nobody's mark. */
function statusChange({ operation, before, after }: HistoryEntry, isWithFields: boolean): string {
	const status = String(after?.status)
	if (status === 'paid' && (isWithFields || operation !== 'invoices.update')) return 'Paid in full'
	if (status === 'sent' && before?.status === 'overdue') return 'No longer overdue'
	if (status === 'sent' && before?.status === 'paid') return 'Is sent again, not paid'
	return statusWords[status] ?? `Became ${status}`
}

function changeWords(names: readonly string[]): string {
	const shown = names.slice(0, 3).map((name) => (fieldWords[name] ?? fieldName(name)).toLowerCase())
	return `Changed ${shown.join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`
}

function emailWords(after: HistoryEntry['after']): string {
	const failed = after?.status === 'failed'
	const recipients = (after?.recipients ?? []) as readonly { readonly address: string; readonly accepted: boolean }[]
	const addresses = recipients.filter(({ accepted }) => accepted !== failed).map(({ address }) => address)
	const to = addresses.length > 0 ? ` to ${addresses.join(', ')}` : ''
	if (failed) return `E-mail${to} failed`
	if (after?.status === 'uncertain') return `Perhaps e-mailed${to}`
	return `E-mailed${to}`
}

const actors: Readonly<Record<string, string>> = {
	api_key: 'API key',
	client_link: 'The client',
	command: 'A command on the server',
	sync: 'A sync',
	system: 'Remit',
}

/** `names` are those of people, by their ids. */
export const actorOf = ({ actor }: HistoryEntry, names: ReadonlyMap<string, string>): string =>
	(actor.type === 'user' && actor.id !== null ? (names.get(actor.id) ?? 'A colleague') : undefined) ??
	(actor.type === 'payment_processor' ? (actor.id ?? 'The payment processor') : undefined) ??
	actors[actor.type] ??
	actor.type
