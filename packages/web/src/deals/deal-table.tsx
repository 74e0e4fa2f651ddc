import type { Deal, Pipeline } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { dayIn, showDay } from '../format/dates.ts'
import { stageOf } from '../forms/pipelines.ts'
import { useNames } from '../forms/use-names.ts'
import { Badge } from '../ui/badge.tsx'
import { type Column, Table } from '../ui/table.tsx'

interface DealTableProps {
	readonly deals: readonly Deal[]
	readonly pipelines: readonly Pipeline[]
	readonly onEnd: (() => void) | undefined
	readonly isStale: boolean
}

export default function DealTable({ deals, pipelines, ...props }: DealTableProps) {
	const { locale, timeZone } = useSession()
	const names = useNames(
		'companies',
		deals.map(({ companyId }) => companyId),
	)
	const columns: readonly Column<Deal>[] = [
		{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
		{
			id: 'company',
			label: 'Company',
			grow: 3,
			phone: 'note',
			cell: ({ companyId }) => <span className="quiet">{names.get(companyId ?? '') ?? '–'}</span>,
		},
		{
			id: 'stage',
			label: 'Stage',
			grow: 2,
			cell: (deal) => {
				const { label, tone } = stageOf(pipelines, deal)
				return <Badge tone={tone}>{label}</Badge>
			},
		},
		{
			id: 'changed',
			label: 'Changed',
			grow: 2,
			cell: ({ updatedAt }) => <span className="quiet">{showDay(dayIn(timeZone, updatedAt), locale)}</span>,
		},
		{
			id: 'value',
			label: 'Value',
			grow: 2,
			isNumber: true,
			phone: 'figure',
			cell: ({ valueCents, currency }) => (valueCents === null ? '–' : showAmount(valueCents, currency, locale)),
		},
	]
	return (
		<Table
			{...props}
			label="Deals"
			columns={columns}
			rows={deals}
			idOf={({ id }) => id}
			link={({ id }, content) => (
				<Link to="/deals/$id" params={{ id }}>
					{content}
				</Link>
			)}
		/>
	)
}
