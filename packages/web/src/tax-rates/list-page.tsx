import type { TaxRate } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { Percent, Plus } from 'lucide-react'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { editDecimal } from '../format/amount.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { type Column, Table } from '../ui/table.tsx'
import '../ui/button.css'

export default function TaxRatesPage() {
	const { may } = useSession()
	const { rows, onEnd, failure } = usePages('taxRates.list', { limit: 100 })
	return (
		<>
			<PageHeader title="Tax rates" actions={may('tax_rates:write') && <NewTaxRate look="primary" />} />
			{failure && <ErrorPanel {...failure} />}
			{(rows || !failure) && (
				<Card isFlush>
					{!rows && <Skeleton rows={3} />}
					{rows?.length === 0 && <NoTaxRates />}
					{rows && rows.length > 0 && <Rates rates={sorted(rows)} onEnd={onEnd} />}
				</Card>
			)}
		</>
	)
}

/** Those in use first, and of them the default. */
const sorted = (rates: readonly TaxRate[]) => {
	const place = ({ active, isDefault }: TaxRate) => (active ? (isDefault ? 0 : 1) : 2)
	return rates.toSorted((a, b) => place(a) - place(b))
}

function Rates({ rates, onEnd }: { rates: readonly TaxRate[]; onEnd: (() => void) | undefined }) {
	const { locale, may } = useSession()
	const columns: readonly Column<TaxRate>[] = [
		{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
		{ id: 'label', label: 'On invoices', grow: 2, cell: ({ label }) => <span className="quiet">{label}</span> },
		{
			id: 'prices',
			label: 'Tax is',
			grow: 2,
			phone: 'note',
			cell: ({ inclusive }) => <span className="quiet">{inclusive ? 'Included in prices' : 'Added to prices'}</span>,
		},
		{
			id: 'state',
			label: 'State',
			grow: 2,
			cell: ({ active, isDefault }) =>
				active ? isDefault ? <Badge tone="accent">Default</Badge> : <Badge tone="good">Active</Badge> : <Badge>Archived</Badge>,
		},
		{
			id: 'percent',
			label: 'Percent',
			isNumber: true,
			phone: 'figure',
			cell: ({ percent }) => `${editDecimal(percent, locale)} %`,
		},
	]
	const link = ({ id }: TaxRate, content: React.ReactNode) => (
		<Link to="/tax-rates/$id/edit" params={{ id }}>
			{content}
		</Link>
	)
	return (
		<Table
			label="Tax rates"
			columns={columns}
			rows={rates}
			idOf={({ id }) => id}
			onEnd={onEnd}
			{...(may('tax_rates:write') && { link })}
		/>
	)
}

const NewTaxRate = ({ look }: { look: 'primary' | 'plain' }) => (
	<Link to="/tax-rates/new" className={`button ${look}`} data-key={look === 'primary' ? 'new' : undefined}>
		<Plus aria-hidden="true" />
		New tax rate
	</Link>
)

function NoTaxRates() {
	const { may } = useSession()
	return (
		<EmptyState
			icon={<Percent size={22} />}
			title="No tax rates yet"
			action={may('tax_rates:write') && <NewTaxRate look="plain" />}
		>
			A saved rate is chosen for the lines of an invoice, with its name and percentage.
		</EmptyState>
	)
}
