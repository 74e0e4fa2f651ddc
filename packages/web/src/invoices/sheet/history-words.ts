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
	/^(updatedAt|version|subtotalCents|taxCents|totalCents|taxBreakdown|amount\w+Cents|paymentState|isOverdue|paidDate|sentAt|locale|timeZone|branding|view\w+)$/

export function wordsOf({ action, before, after }: HistoryEntry): string {
	if (action === 'emailed') return emailWords(after)
	if (action !== 'updated') return actionWords[action] ?? fieldName(action)
	const status = after?.status
	if (typeof status === 'string' && status !== before?.status) return statusWords[status] ?? `Became ${status}`
	const names = Object.keys(after ?? {}).filter((name) => !derived.test(name))
	if (names.length === 0) return after && 'amountPaidCents' in after ? 'Payment recorded' : 'Changed'
	const shown = names.slice(0, 3).map((name) => (fieldWords[name] ?? fieldName(name)).toLowerCase())
	return `Changed ${shown.join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`
}

function emailWords(after: HistoryEntry['after']): string {
	const to = typeof after?.to === 'string' ? ` to ${after.to}` : ''
	if (after?.status === 'failed') return `E-mail${to} failed`
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
