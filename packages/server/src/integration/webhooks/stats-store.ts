// How the attempts to an endpoint ended in the last day: a row an hour, which the results of a turn are added to together, so that no
// delivery has a write of its own, and the figures of a day are 24 rows. An hour's row is used again a day later.

import type { WebhookEndpointStats } from '../../generated/contract.ts'
import { hourMs } from '../../platform/base/dates.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { type Part, RowList } from '../../platform/db/row-lists.ts'

/** An attempt, as the engine writes its result. */
interface Attempt {
	readonly organizationId: string
	readonly endpointId: string
	readonly status: 'succeeded' | 'retrying' | 'exhausted'
	readonly durationMs: number
	/** Null when there was no answer: then the latency is that of a time limit or a closed port. */
	readonly responseStatus: number | null
	readonly endedAt: number
}

const bounds = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

/** The counts by latency, each up to its bound; `longer` has none. */
const steps = [...bounds.map((bound) => `upTo${bound}`), 'longer']

const counters = ['succeeded', 'failed', 'totalMs', ...steps]
const columns = ['place', 'hour', ...counters, 'longestMs']

type Figures = Record<string, number>
type Hour = Figures & Readonly<Record<'organizationId' | 'endpointId', string>>

const blank = Object.fromEntries(columns.map((name) => [name, 0]))

const stepOf = (ms: number): string => steps[bounds.findIndex((bound) => ms <= bound)] ?? 'longer'

function hoursOf(attempts: readonly Attempt[]): Hour[] {
	const hours = new Map<string, Hour>()
	for (const { organizationId, endpointId, status, durationMs, responseStatus, endedAt } of attempts) {
		const hour = Math.floor(endedAt / hourMs)
		const key = `${endpointId} ${hour}`
		const row = hours.get(key) ?? ({ organizationId, endpointId, ...blank, place: hour % 24, hour } as unknown as Hour)
		hours.set(key, row)
		add(row, status === 'succeeded' ? 'succeeded' : 'failed')
		if (responseStatus === null) continue
		const ms = Math.round(durationMs)
		add(row, stepOf(ms))
		add(row, 'totalMs', ms)
		row.longestMs = Math.max(row.longestMs ?? 0, ms)
	}
	// In one order in every process, so that none waits for a row that another holds.
	return [...hours.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

function add(row: Figures, name: string, count = 1): void {
	row[name] = (row[name] ?? 0) + count
}

const names = ['organizationId', 'endpointId', ...columns]

const sums = counters.map(
	(name) => `"${name}" = excluded."${name}" + case when h.hour = excluded.hour then h."${name}" else 0 end`,
)

const list = new RowList<Hour>(Object.fromEntries(names.map((name) => [name, name.endsWith('Id') ? 'text' : 'bigint'])))

const addition = query<Part<Hour>>((knex, part, dialect) => {
	const quoted = names.map((name) => `"${name}"`).join(', ')
	return knex.raw(
		`insert into webhook_endpoint_hours as h (${quoted}) select ${quoted} from ? where true
		on conflict ("organizationId", "endpointId", place) do update set hour = excluded.hour, ${sums.join(', ')}, "longestMs" =
			case when h.hour = excluded.hour and h."longestMs" > excluded."longestMs" then h."longestMs" else excluded."longestMs" end`,
		[list.table(knex, part, dialect)],
	)
})

/** Counts attempts, in the transaction that writes their results. */
export const countAttempts = (db: Db, attempts: readonly Attempt[]) => list.run(db, addition, hoursOf(attempts))

interface Day {
	readonly organizationId: string
	readonly endpointId: string
	readonly from: number
	readonly to: number
}

const day = query<Day, Figures>((knex, { organizationId, endpointId, from, to }) =>
	knex('webhook_endpoint_hours').where({ organizationId, endpointId }).whereBetween('hour', [from, to]).select(columns),
)

/** The figures of an endpoint, of this hour and the 23 before it. */
export async function readStats(db: Db, organizationId: string, endpointId: string, now: number): Promise<WebhookEndpointStats> {
	const to = Math.floor(now / hourMs)
	const hours = await db.all(day, { organizationId, endpointId, from: to - 23, to })
	const sum = (name: string) => hours.reduce((total, row) => total + Number(row[name]), 0)
	const [succeeded, failed, longestMs] = [
		sum('succeeded'),
		sum('failed'),
		Math.max(0, ...hours.map((row) => Number(row.longestMs))),
	]
	const counts = steps.map(sum)
	const answered = counts.reduce((total, count) => total + count, 0)
	return {
		endpointId,
		since: (to - 23) * hourMs,
		succeeded,
		failed,
		successRate: succeeded + failed === 0 ? null : Math.floor((10_000 * succeeded) / (succeeded + failed)) / 10_000,
		latency:
			answered === 0
				? null
				: {
						averageMs: Math.round(sum('totalMs') / answered),
						p50Ms: quantile(counts, 0.5 * answered, longestMs),
						p95Ms: quantile(counts, 0.95 * answered, longestMs),
						longestMs,
					},
	}
}

/** Estimates the latency of the attempt at a rank: attempts of a step are taken to be spread evenly over it. */
function quantile(counts: readonly number[], rank: number, longestMs: number): number {
	let before = 0
	for (const [index, count] of counts.entries()) {
		if (count > 0 && before + count >= rank) {
			const low = index === 0 ? 0 : (bounds[index - 1] as number)
			const high = Math.min(bounds[index] ?? longestMs, longestMs)
			return Math.round(low + ((high - low) * (rank - before)) / count)
		}
		before += count
	}
	return longestMs
}
