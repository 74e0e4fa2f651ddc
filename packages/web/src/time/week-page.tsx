import type { TimeEntry } from '@remit/sdk'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight, Clock, Plus } from 'lucide-react'
import { describe } from '../api/errors.ts'
import { useSession } from '../api/session.ts'
import { addDays, clockIn, dayIn, mondayOf, showDays, showHours, showWeekday } from '../format/dates.ts'
import { useNames } from '../forms/use-names.ts'
import { usePeople } from '../forms/use-people.ts'
import { useTimeEntries } from '../forms/use-time-entries.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Row, Rows } from '../ui/rows.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Timer } from './timer.tsx'
import { WeekStrip } from './week-strip.tsx'
import '../ui/button.css'
import '../ui/search-field.css'
import './time.css'

const route = getRouteApi('/time')

const sum = (entries: readonly TimeEntry[]) => entries.reduce((total, { durationSeconds }) => total + (durationSeconds ?? 0), 0)

export default function TimePage() {
	const { personId, locale, timeZone, may } = useSession()
	const { week, who } = route.useSearch()
	const today = dayIn(timeZone, Date.now())
	const monday = mondayOf(week ?? today)
	const days = Array.from({ length: 7 }, (_, index) => addDays(monday, index))
	const { entries, error, refetch, isStale } = useTimeEntries({
		from: monday,
		to: days.at(-1) as string,
		...(who === 'me' && { userId: personId }),
	})
	const names = useNames(
		'deals',
		(entries ?? []).map(({ dealId }) => dealId),
	)
	const people = usePeople(who === 'me' ? [] : (entries ?? []).map(({ userId }) => userId))
	/** Whose an entry is, where the page has those of everybody. */
	const nameOf = ({ userId }: TimeEntry) => (who === 'me' ? null : ((userId && people.get(userId)?.name) ?? userId))
	const byDay = days.map((day) => ({
		day,
		entries: (entries ?? []).filter(({ startedAt }) => dayIn(timeZone, startedAt) === day).toReversed(),
	}))
	return (
		<>
			<PageHeader title="Time" actions={may('time_entries:write') && <AddTime look="primary" />} />
			{may('time_entries:write') && <Timer />}
			<div className="toolbar">
				<nav className="week-links" aria-label="Weeks">
					<WeekLink week={addDays(monday, -7)} label="Week before" icon={<ChevronLeft aria-hidden="true" />} />
					<Link
						to="/time"
						search={(now) => ({ ...now, week: undefined })}
						activeOptions={{ exact: true }}
						className="button plain small"
					>
						This week
					</Link>
					<WeekLink week={addDays(monday, 7)} label="Week after" icon={<ChevronRight aria-hidden="true" />} />
				</nav>
				<span className="week-range">{showDays(monday, days.at(-1) as string, locale)}</span>
				<nav className="week-links" aria-label="Whose time">
					{([undefined, 'me'] as const).map((whose) => (
						<Link
							key={whose ?? 'all'}
							to="/time"
							search={(now) => ({ ...now, who: whose })}
							className={`button small ${whose === who ? 'plain' : 'quiet'}`}
							activeOptions={{ exact: true }}
						>
							{whose ? 'Mine' : 'Everybody'}
						</Link>
					))}
				</nav>
				{entries && <span className="toolbar-count">{`${showHours(sum(entries))} h in the week`}</span>}
			</div>
			{error && <ErrorPanel {...describe(error)} onRetry={() => void refetch()} />}
			{!entries && !error && (
				<Card isFlush>
					<Skeleton rows={4} />
				</Card>
			)}
			{entries && (
				<div className="week" data-stale={isStale || undefined}>
					<WeekStrip days={byDay.map(({ day, entries: own }) => ({ day, seconds: sum(own) }))} today={today} />
					{entries.length === 0 && <NoTime isMine={who === 'me'} />}
					{byDay.toReversed().map((one) => one.entries.length > 0 && <Day key={one.day} {...one} {...{ names, nameOf }} />)}
				</div>
			)}
		</>
	)
}

const WeekLink = ({ week, label, icon }: { week: string; label: string; icon: React.ReactNode }) => (
	<Link to="/time" search={(now) => ({ ...now, week })} className="button plain small icon-only" aria-label={label}>
		{icon}
	</Link>
)

const AddTime = ({ look }: { look: 'primary' | 'plain' }) => (
	<Link to="/time/new" className={`button ${look}`} data-key={look === 'primary' ? 'new' : undefined}>
		<Plus aria-hidden="true" />
		Add time
	</Link>
)

const NoTime = ({ isMine }: { isMine: boolean }) => (
	<Card isFlush>
		<EmptyState
			icon={<Clock size={22} />}
			title={isMine ? 'No time of yours in this week' : 'No time in this week'}
			action={<AddTime look="plain" />}
		>
			Start the timer above, or add what you have worked by hand.
		</EmptyState>
	</Card>
)

interface DayProps {
	readonly day: string
	readonly entries: readonly TimeEntry[]
	/** Of deals. */
	readonly names: ReadonlyMap<string, string>
	readonly nameOf: (entry: TimeEntry) => string | null
}

function Day({ day, entries, names, nameOf }: DayProps) {
	const { locale } = useSession()
	return (
		<Card title={showWeekday(day, locale)} isFlush actions={<span className="day-sum">{`${showHours(sum(entries))} h`}</span>}>
			<Rows label={showWeekday(day, locale)}>
				{entries.map((entry) => (
					<Entry key={entry.id} entry={entry} deal={names.get(entry.dealId)} person={nameOf(entry)} />
				))}
			</Rows>
		</Card>
	)
}

function Entry({ entry, deal, person }: { entry: TimeEntry; deal: string | undefined; person: string | null }) {
	const { timeZone, may } = useSession()
	const { id, taskName, deliverableName, description, startedAt, endedAt, durationSeconds, status, billable } = entry
	const title = taskName ?? deliverableName ?? description ?? deal ?? 'Work'
	const clock = `${clockIn(timeZone, startedAt)}–${endedAt ? clockIn(timeZone, endedAt) : 'now'}`
	const isOpen = status === 'open' && may('time_entries:write')
	return (
		<Row
			title={
				isOpen ? (
					<Link to="/time/$id/edit" params={{ id }}>
						{title}
					</Link>
				) : (
					title
				)
			}
			note={[person, deal, title === description ? '' : description, clock].filter(Boolean).join(' · ')}
			figure={
				<>
					{status === 'invoiced' && <Badge tone="good">Invoiced</Badge>}
					{status === 'open' && !billable && <Badge>Not billable</Badge>}
					<span className="row-hours">{durationSeconds === null ? 'running' : `${showHours(durationSeconds)} h`}</span>
				</>
			}
		/>
	)
}
