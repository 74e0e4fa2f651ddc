// Statuses and events in words, with the tone of their badge.

export interface Status {
	readonly label: string
	readonly tone: 'plain' | 'accent' | 'good' | 'warn' | 'bad'
}

const tones: Readonly<Record<string, Status['tone']>> = {
	sent: 'accent',
	viewed: 'accent',
	open: 'accent',
	running: 'accent',
	partially_paid: 'warn',
	unpaid: 'warn',
	pending: 'warn',
	degraded: 'warn',
	needs_reauth: 'warn',
	paused: 'warn',
	paid: 'good',
	active: 'good',
	succeeded: 'good',
	delivered: 'good',
	won: 'good',
	delivering: 'accent',
	queued: 'accent',
	retrying: 'warn',
	waiting: 'warn',
	partially_succeeded: 'warn',
	overdue: 'bad',
	exhausted: 'bad',
	blocked: 'bad',
	invalid: 'bad',
	failed: 'bad',
	disabled: 'bad',
	lost: 'bad',
}

const labels: Readonly<Record<string, string>> = {
	needs_reauth: 'Sign in again',
	exhausted: 'Failed',
	partially_succeeded: 'Some failed',
	// As wide as the column of a list has room for.
	partially_paid: 'Part paid',
}

/** `partially_paid` is `Partially paid`, as are names in camel case. */
export const words = (name: string): string =>
	name
		.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
		.replaceAll(/[._]/g, ' ')
		.toLowerCase()
		.replace(/^./, (letter) => letter.toUpperCase())

export const statusOf = (status: string): Status => ({ label: labels[status] ?? words(status), tone: tones[status] ?? 'plain' })

interface InvoiceState {
	readonly status: string
	readonly isOverdue?: boolean
	readonly paymentState?: string
}

/**
 * An invoice is overdue from the day after its due date, before its status says so. One of which a part is paid says that, and one that was
 * called paid, and is owed since its total has risen, that nothing is. One that was called overdue before its day has come is sent.
 */
export function invoiceStatus({ status, isOverdue, paymentState = status }: InvoiceState): Status {
	if (isOverdue) return statusOf('overdue')
	const shown = status === 'overdue' && isOverdue === false ? 'sent' : status
	const isOther = shown === 'paid' || (shown === 'sent' && paymentState === 'partially_paid')
	return statusOf(isOther ? paymentState : shown)
}

/** `billingAddressLine1` as its field is labelled, when no other label is given. */
export const fieldName = (name: string): string => words(name.replace(/(\d+)$/, ' $1'))

/** In place of “No match”, which nobody knows then. */
export const searchFailed = 'The search has failed. Change the text to try again.'

let languageNames: Intl.DisplayNames | undefined

export function languageName(tag: string): string {
	// The first one takes 50 ms, which most pages need not spend.
	languageNames ??= new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' })
	return languageNames.of(tag) ?? tag
}

const browsers: readonly [RegExp, string][] = [
	[/Edg\//, 'Edge'],
	[/OPR\//, 'Opera'],
	[/Firefox\//, 'Firefox'],
	[/Chrome\//, 'Chrome'],
	[/Safari\//, 'Safari'],
]
const systems: readonly [RegExp, string][] = [
	[/Android/, 'Android'],
	[/iPhone|iPad/, 'iOS'],
	[/Windows/, 'Windows'],
	[/Mac OS X/, 'macOS'],
	[/Linux/, 'Linux'],
]

/** `Firefox on Linux`, of what a browser says of itself. */
export function browserName(userAgent: string | null): string {
	const find = (names: readonly [RegExp, string][]) => names.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
	return [find(browsers) ?? 'A browser', find(systems)].filter(Boolean).join(' on ')
}
