import type { CurrencySummary } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { describe } from '../api/errors.ts'
import { read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Tile } from '../ui/tile.tsx'
import '../ui/button.css'

// Below what is seen first, and on its way while the figures are asked for.
const Figures = onFirstUse(() => import('./figures.tsx'))
void Figures.preload()
const FirstSteps = onFirstUse(() => import('./first-steps.tsx'))

const route = getRouteApi('/')

export default function DashboardPage() {
	const { data, error, refetch } = useQuery(read('reports.summary'))
	const trouble = error && !data ? describe(error) : undefined
	const newInvoice = (
		<Link to="/invoices/new" className="button primary" data-key="new">
			<Plus aria-hidden="true" />
			New invoice
		</Link>
	)
	return (
		<>
			<PageHeader title="Dashboard" actions={newInvoice} />
			{trouble && <ErrorPanel {...trouble} onRetry={() => void refetch()} />}
			{data ? <Summary currencies={data.currencies} today={data.today} /> : !trouble && <Skeleton />}
		</>
	)
}

/** Whether nothing was ever asked of a client or paid. */
const isNew = (currencies: readonly CurrencySummary[]) =>
	currencies.every(({ outstanding, paidByMonth }) => outstanding.count === 0 && paidByMonth.every(({ cents }) => cents === 0))

function Summary({ currencies, today }: { currencies: readonly CurrencySummary[]; today: number }) {
	const { currency: chosen } = route.useSearch()
	const { currency: own } = useSession()
	const byCode = (code?: string) => currencies.find(({ currency }) => currency === code)
	const shown = byCode(chosen) ?? byCode(own) ?? currencies[0]
	return (
		<>
			{isNew(currencies) && <FirstSteps />}
			{currencies.length > 1 && (
				<Tabs label="Currencies">
					{currencies.map(({ currency }) => (
						<Link
							key={currency}
							to="/"
							search={{ currency }}
							replace
							resetScroll={false}
							aria-current={currency === shown?.currency ? 'page' : undefined}
						>
							{currency}
						</Link>
					))}
				</Tabs>
			)}
			{shown && <Tiles summary={shown} />}

			<Figures summary={shown} today={today} />
		</>
	)
}

const invoices = (count: number) => (count === 1 ? '1 invoice' : `${count} invoices`)

function Tiles({ summary: { currency, outstanding, overdue, paidThisMonthCents, paidByMonth } }: { summary: CurrencySummary }) {
	const { locale } = useSession()
	const show = (cents: number) => showAmount(cents, currency, locale)
	const before = paidByMonth.at(-2)?.cents ?? 0
	return (
		<div className="tiles">
			<Link to="/invoices" search={{ tab: 'open', currency }}>
				<Tile label="Outstanding" value={show(outstanding.cents)} note={invoices(outstanding.count)} />
			</Link>
			<Link to="/invoices" search={{ tab: 'overdue', currency }}>
				<Tile label="Overdue" value={show(overdue.cents)} note={invoices(overdue.count)} />
			</Link>
			<Link to="/invoices" search={{ tab: 'paid', currency }}>
				<Tile label="Paid this month" value={show(paidThisMonthCents)} note={`${show(before)} last month`} />
			</Link>
		</div>
	)
}
