// What an organization is owed and was paid, by the sums that are kept (migration 0081): each figure is a few ranges of them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CurrencySummary, InvoiceSum, OrganizationSettings, ReportSummary } from '../../generated/contract.ts'
import { startOfDay, type Today, todayIn } from '../../platform/base/dates.ts'
import type { Db } from '../../platform/db/database.ts'
import { findCurrencies, type Range, readSums, type Sum } from './store.ts'

const monthCount = 12

type Figure = 'outstanding' | 'overdue' | 'drafts' | number

/** A part of a figure, of a month by its place; `sign` is -1 for what is taken from it. */
interface Part extends Range {
	readonly of: Figure
	readonly sign: 1 | -1
}

/** Each currency has a turn of its own. */
export async function readSummary(db: Db, { id, timeZone }: OrganizationSettings, now: number): Promise<ReportSummary> {
	const today = todayIn(timeZone, now)
	const firsts = firstDays(today.date)
	// Days and months begin with those of UTC in many zones: nothing lies between them, and each range is a search of an index.
	const parts = [...invoiceParts(today), ...paidParts(firsts, timeZone)].filter(({ from, before }) => from < before)
	const currencies: CurrencySummary[] = []
	for (const currency of await findCurrencies(db, id)) {
		const sums = await readSums(
			db,
			id,
			currency,
			parts.map(({ figure, from, before }) => ({ figure, from, before })),
		)
		const summary = summaryOf(currency, firsts, parts, sums)
		if (!isEmpty(summary)) currencies.push(summary)
		await nextTurn()
	}
	return { timeZone, today: today.date, currencies }
}

const monthOf = (date: number, more = 0) => Date.UTC(new Date(date).getUTCFullYear(), new Date(date).getUTCMonth() + more, 1)

/** The first days of the months, and of the month after them. */
const firstDays = (today: number): number[] =>
	Array.from({ length: monthCount + 1 }, (_, n) => monthOf(today, n - monthCount + 1))

const always = Number.MAX_SAFE_INTEGER + 1

function invoiceParts({ date, instant }: Today): Part[] {
	// Whole months that are past whether they are dates or instants, and the days since.
	const since = monthOf(Math.min(date, instant))
	return [
		{ of: 'drafts', sign: 1, figure: 'draft', from: 0, before: always },
		{ of: 'outstanding', sign: 1, figure: 'open', from: 0, before: always },
		{ of: 'overdue', sign: 1, figure: 'open', from: 0, before: since },
		{ of: 'overdue', sign: 1, figure: 'due', from: since, before: date },
		{ of: 'overdue', sign: 1, figure: 'due_at', from: since, before: instant },
	]
}

/** The months of UTC. What lies between the beginning of one and that of the month in the time zone belongs to the month beside it. */
function paidParts(firsts: readonly number[], timeZone: string): Part[] {
	return firsts.flatMap((first, place): Part[] => {
		const begins = startOfDay(timeZone, first)
		const isLater = begins > first
		const between = { figure: 'paid_at', from: Math.min(first, begins), before: Math.max(first, begins) } as const
		return [
			{ of: place, sign: 1, figure: 'paid', from: first, before: first + 1 },
			{ of: place, sign: isLater ? -1 : 1, ...between },
			{ of: place - 1, sign: isLater ? 1 : -1, ...between },
		]
	})
}

function summaryOf(currency: string, firsts: readonly number[], parts: readonly Part[], sums: readonly Sum[]): CurrencySummary {
	const sumOf = (figure: Figure): InvoiceSum =>
		parts.reduce(
			(sum, { of, sign }, n) => {
				const { records, cents } = sums[n] as Sum
				return of === figure ? { count: sum.count + sign * records, cents: sum.cents + sign * cents } : sum
			},
			{ count: 0, cents: 0 },
		)
	const paidByMonth = firsts.slice(0, monthCount).map((first, place) => ({
		month: new Date(first).toISOString().slice(0, 7),
		cents: sumOf(place).cents,
	}))
	return {
		currency,
		outstanding: sumOf('outstanding'),
		overdue: sumOf('overdue'),
		drafts: sumOf('drafts'),
		paidThisMonthCents: paidByMonth.at(-1)?.cents ?? 0,
		paidByMonth,
	}
}

const isEmpty = ({ outstanding, drafts, paidByMonth }: CurrencySummary) =>
	outstanding.count === 0 && drafts.count === 0 && paidByMonth.every(({ cents }) => cents === 0)
