import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useSession } from '../../api/session.ts'
import { showAmount } from '../../format/amount.ts'
import { dayOf, showDay } from '../../format/dates.ts'
import { invoiceStatus } from '../../format/names.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import type { Row, Search } from './list-query.ts'

const ChosenBar = onFirstUse(() => import('./chosen-bar.tsx'))

interface RowsProps {
	readonly rows: readonly Row[]
	readonly search: Search
	readonly onEnd: (() => void) | undefined
	readonly isStale: boolean
	/** How many there are with this filter. */
	readonly total: number | undefined
}

/** So many are done one after the other at once. */
const most = 1_000

export function Rows({ rows, search, onEnd, isStale, total = rows.length }: RowsProps) {
	const columns = useColumns(search)
	const [some, setSome] = useState<ReadonlySet<string>>(new Set())
	const [areAll, setAll] = useState(false)
	const isComing = areAll && rows.length < most && onEnd !== undefined
	// All of the filter, also those whose page has not been read.
	useEffect(() => {
		if (isComing) onEnd()
	}, [isComing, onEnd])
	const chosen = areAll ? new Set(rows.slice(0, most).map(({ id }) => id)) : some
	const setChosen = (next: ReadonlySet<string>) => {
		setAll(false)
		setSome(next)
	}
	return (
		<>
			<Card isFlush>
				<Table
					label="Invoices"
					columns={columns}
					rows={rows}
					idOf={({ id }) => id}
					onEnd={onEnd}
					isStale={isStale}
					selection={{ chosen, onChange: setChosen, onAll: () => setAll(true), nameOf: ({ invoiceNumber }) => invoiceNumber }}
					link={({ id }, content) => (
						<Link to="/invoices/$id" params={{ id }}>
							{content}
						</Link>
					)}
				/>
			</Card>
			{chosen.size > 0 && (
				<ChosenBar
					rows={rows.filter(({ id }) => chosen.has(id))}
					wanted={areAll ? total : undefined}
					isComing={isComing}
					onChange={setChosen}
				/>
			)}
		</>
	)
}

function useColumns(search: Search): readonly Column<Row>[] {
	const { locale, timeZone } = useSession()
	const sorted = (by: NonNullable<Search['sort']>, label: string) => ({
		label,
		head: <SortLink by={by} label={label} search={search} />,
		sort: search.sort === by ? (search.order === 'desc' ? ('descending' as const) : ('ascending' as const)) : undefined,
	})
	const day = (date: number | null) => (
		<span className="quiet">{date === null ? '–' : showDay(dayOf(date, timeZone), locale)}</span>
	)
	return [
		{
			id: 'number',
			...sorted('invoiceNumber', 'Number'),
			grow: 1.7,
			phone: 'title',
			cell: ({ invoiceNumber }) => invoiceNumber,
		},
		{ id: 'client', label: 'Client', grow: 2.4, phone: 'note', cell: ({ company }) => company?.name ?? '–' },
		{
			id: 'status',
			label: 'Status',
			grow: 1.8,
			phone: 'aside',
			cell: (row) => {
				const { label, tone } = invoiceStatus(row)
				return <Badge tone={tone}>{label}</Badge>
			},
		},
		{ id: 'issued', ...sorted('issuedDate', 'Issued'), grow: 1.9, cell: ({ issuedDate }) => day(issuedDate) },
		{ id: 'due', ...sorted('dueDate', 'Due'), grow: 1.9, cell: ({ dueDate }) => day(dueDate) },
		{
			id: 'total',
			...sorted('totalCents', 'Total'),
			grow: 2.2,
			isNumber: true,
			phone: 'figure',
			cell: ({ totalCents, currency }) => showAmount(totalCents, currency, locale),
		},
		{
			id: 'owed',
			label: 'Amount due',
			grow: 2.4,
			isNumber: true,
			cell: ({ amountDueCents, currency, status }) => (
				<span className={amountDueCents === 0 || status === 'draft' ? 'quiet' : undefined}>
					{amountDueCents === 0 ? '–' : showAmount(amountDueCents, currency, locale)}
				</span>
			),
		},
	]
}

/** The first press sorts upwards, the second downwards, the third not at all. */
function SortLink({ by, label, search }: { by: NonNullable<Search['sort']>; label: string; search: Search }) {
	const isBy = search.sort === by
	const isDown = isBy && search.order === 'desc'
	const next = isDown ? { sort: undefined, order: undefined } : { sort: by, order: isBy ? ('desc' as const) : undefined }
	return (
		<Link to="/invoices" search={(before) => ({ ...before, ...next })} activeOptions={{ exact: true }} replace>
			{label}
			{isBy && <span aria-hidden="true">{isDown ? '↓' : '↑'}</span>}
		</Link>
	)
}
