import type { Deal, TimeEntry } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { Clock, Plus } from 'lucide-react'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { dayIn, showDay, showHours } from '../format/dates.ts'
import type { useTimeEntries } from '../forms/use-time-entries.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Row, Rows } from '../ui/rows.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { useTimePreview } from './use-time-preview.ts'
import './deal.css'

interface TimeOnDealProps {
	readonly deal: Deal
	readonly time: ReturnType<typeof useTimeEntries>
	readonly unbilled: readonly TimeEntry[]
}

const first = 8

/** The time that was worked on a deal, and what of it is still to be invoiced. */
export function TimeOnDeal({ deal, time: { entries, error, refetch }, unbilled }: TimeOnDealProps) {
	const [isWhole, setWhole] = useState(false)
	const { may } = useSession()
	const shown = isWhole ? entries : entries?.slice(0, first)
	const add = (
		<Link to="/time/new" search={{ deal: deal.id }} className="button plain small">
			<Plus aria-hidden="true" />
			Add time
		</Link>
	)
	return (
		<Card title="Time" isFlush actions={may('time_entries:write') && add}>
			{error && !entries && <ErrorPanel isSmall {...describe(error)} onRetry={() => void refetch()} />}
			{!entries && !error && <Skeleton rows={3} />}
			{entries?.length === 0 && (
				<EmptyState icon={<Clock size={22} />} title="No time yet">
					Time that is worked on this deal becomes the lines of an invoice.
				</EmptyState>
			)}
			{unbilled.length > 0 && <Unbilled deal={deal} entries={unbilled} />}
			{shown && shown.length > 0 && (
				<Rows label="Time entries">
					{shown.map((entry) => (
						<Entry key={entry.id} entry={entry} />
					))}
				</Rows>
			)}
			{entries && entries.length > first && (
				<div className="card-foot">
					<Button look="quiet" isSmall onPress={() => setWhole(!isWhole)}>
						{isWhole ? 'Show fewer' : `Show all ${entries.length}`}
					</Button>
				</div>
			)}
		</Card>
	)
}

/** The sum is what an invoice of all of it would come to, as the server computes it. */
function Unbilled({ deal, entries }: { deal: Deal; entries: readonly TimeEntry[] }) {
	const { locale } = useSession()
	const { data } = useTimePreview(deal, entries)
	const seconds = entries.reduce((sum, { durationSeconds }) => sum + (durationSeconds ?? 0), 0)
	return (
		<dl className="unbilled">
			<dt>Not invoiced yet</dt>
			<dd>
				<strong>{data ? showAmount(data.subtotalCents, data.currency, locale) : '…'}</strong>
				<span>{`${showHours(seconds)} h, before tax`}</span>
			</dd>
		</dl>
	)
}

function Entry({ entry }: { entry: TimeEntry }) {
	const { locale, timeZone, may } = useSession()
	const { id, taskName, deliverableName, description, startedAt, durationSeconds, status, billable } = entry
	const title = taskName ?? deliverableName ?? description ?? 'Work'
	const day = showDay(dayIn(timeZone, startedAt), locale)
	return (
		<Row
			title={
				status === 'open' && may('time_entries:write') ? (
					<Link to="/time/$id/edit" params={{ id }}>
						{title}
					</Link>
				) : (
					title
				)
			}
			note={[day, title === description ? '' : description].filter(Boolean).join(' · ')}
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
