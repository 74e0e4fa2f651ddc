// Turns time entries into the lines of an invoice: which entries can be invoiced, at which rate, and how they group. Pure.

import type { Deal, OrganizationSettings, ProblemError, TaxRate, TimeEntry, TimeGrouping } from '../../../generated/contract.ts'
import { formatDecimal, roundedDivide } from '../../../platform/base/decimal.ts'
import { type ApiError, listedError } from '../../../platform/base/errors.ts'
import { newId } from '../../../platform/base/ids.ts'
import { blankLine, type Line, savedTax } from './lines.ts'

interface Request {
	/** The ids as the caller sent them; a repeated id counts once. */
	readonly ids: readonly string[]
	/** The entries with these ids that the organization has. */
	readonly entries: readonly TimeEntry[]
	readonly deal: Deal
	readonly organization: Pick<OrganizationSettings, 'defaultCurrency' | 'hourlyRateCents'>
}

/** An entry that can be invoiced, and its hourly rate. */
export interface Charged {
	readonly entry: TimeEntry & { durationSeconds: number }
	readonly rateCents: number
}

/** The entries with their rates. Throws an error that names every entry that cannot be invoiced, and why. */
export function rateEntries({ ids: named, entries, deal, organization }: Request): Charged[] {
	const ids = [...new Set(named)]
	const byId = new Map(entries.map((entry) => [entry.id, entry]))
	const pointerOf = (id: string) => `/timeEntryIds/${named.indexOf(id)}`
	rejectAny(
		'invalid_time_entries',
		'These time entries cannot be invoiced here',
		ids,
		(id) => unfit(id, byId.get(id), deal),
		pointerOf,
	)
	const invoiced = (id: string) => {
		const entry = byId.get(id)
		if (entry?.status !== 'invoiced') return undefined
		return { code: 'time_entry_already_invoiced', detail: `${id} is on the invoice ${entry.invoiceId}` }
	}
	rejectAny('time_entry_already_invoiced', 'A time entry can be on one invoice', ids, invoiced, pointerOf)
	return rated(entries as readonly Charged['entry'][], deal, organization, pointerOf)
}

type Reason = Pick<ProblemError, 'code' | 'detail'> | undefined

function rejectAny(
	code: ApiError['code'],
	what: string,
	ids: readonly string[],
	reasonOf: (id: string) => Reason,
	pointerOf: (id: string) => string,
): void {
	const errors = ids.flatMap((id) => {
		const reason = reasonOf(id)
		return reason ? [{ pointer: pointerOf(id), ...reason }] : []
	})
	if (errors.length > 0) throw listedError(code, what, errors)
}

function unfit(id: string, entry: TimeEntry | undefined, deal: Deal): Reason {
	if (!entry) return { code: 'unknown', detail: `there is no time entry ${id}` }
	if (entry.dealId !== deal.id) return { code: 'other_deal', detail: `${id} is for the deal ${entry.dealId}` }
	if (entry.durationSeconds === null) return { code: 'running', detail: `${id} is still running` }
	if (!entry.billable) return { code: 'not_billable', detail: `${id} is not billable` }
	return undefined
}

/** Charges the entry's rate, else its deal's, else the organization's, which is in the organization's default currency. */
function rated(
	entries: readonly Charged['entry'][],
	deal: Deal,
	{ defaultCurrency, hourlyRateCents }: Request['organization'],
	pointerOf: (id: string) => string,
): Charged[] {
	const rateOf = (entry: TimeEntry) => entry.hourlyRateCents ?? deal.hourlyRateCents
	const without = entries.filter((entry) => rateOf(entry) === null).map(({ id }) => id)
	const [code, what] =
		hourlyRateCents === null
			? (['rate_missing', 'Neither the entry nor its deal nor the organization has an hourly rate'] as const)
			: (['currency_mismatch', `The organization's hourly rate is in ${defaultCurrency}, the deal in ${deal.currency}`] as const)
	if (hourlyRateCents === null || defaultCurrency !== deal.currency) {
		rejectAny(code, what, without, (id) => ({ code, detail: `${id} has no rate in ${deal.currency}` }), pointerOf)
	}
	return entries.map((entry) => ({ entry, rateCents: rateOf(entry) ?? (hourlyRateCents as number) }))
}

/** Entries with the same `key` share a line; `words` is its description, null when they have no name. */
const groups: Record<TimeGrouping, (entry: TimeEntry) => { key: string; words: string | null }> = {
	task: ({ taskId, taskName }) => ({
		key: JSON.stringify([taskId, taskId ? null : taskName]),
		words: taskName ?? taskId,
	}),
	deliverable: ({ deliverableId, deliverableName }) => ({
		key: JSON.stringify([deliverableId, deliverableId ? null : deliverableName]),
		words: deliverableName ?? deliverableId,
	}),
	all: () => ({ key: '', words: null }),
}

export type Rounding = Pick<OrganizationSettings, 'timeRounding' | 'timeRoundingMinutes'>

/** The seconds that an invoice charges for an entry. */
export function chargedSeconds(seconds: number, { timeRounding, timeRoundingMinutes }: Rounding): number {
	const step = timeRoundingMinutes * 60
	if (timeRounding === 'up') return Math.ceil(seconds / step) * step
	return timeRounding === 'nearest' ? Math.round(seconds / step) * step : seconds
}

/** One line for each group and rate, in the order in which their work began; `unnamed` describes those whose entries have no name. */
export function timeLines(
	charged: readonly Charged[],
	groupBy: TimeGrouping,
	taxRate: TaxRate | undefined,
	rounding: Rounding,
	unnamed: string,
): Line[] {
	const inOrder = charged.toSorted((a, b) => a.entry.startedAt - b.entry.startedAt || (a.entry.id < b.entry.id ? -1 : 1))
	const lines = Map.groupBy(inOrder, ({ entry, rateCents }) => `${groups[groupBy](entry).key} ${rateCents}`)
	return [...lines.values()].map((group, index) => {
		const [{ entry, rateCents }] = group as [Charged]
		const durationSeconds = group.reduce((total, one) => total + chargedSeconds(one.entry.durationSeconds, rounding), 0)
		return {
			id: newId('li'),
			...blankLine,
			position: index + 1,
			kind: 'time',
			description: groups[groupBy](entry).words ?? unnamed,
			quantity: hours(durationSeconds),
			unit: 'h',
			unitPriceCents: rateCents,
			durationSeconds,
			timeEntryIds: group.map((one) => one.entry.id),
			...(taxRate && savedTax(taxRate)),
		}
	})
}

/** To six places, which keep any two seconds apart; the amount is computed from the seconds. */
const hours = (seconds: number) => formatDecimal(roundedDivide(BigInt(seconds) * 1_000_000n, 3600n), 6)
