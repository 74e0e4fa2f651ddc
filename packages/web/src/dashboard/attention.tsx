import type { InvoiceSummary } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, Clock, FileText, Plug, Webhook } from 'lucide-react'
import type { ReactNode } from 'react'
import { describe } from '../api/errors.ts'
import { list } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { dayOf, showAgo, showDay } from '../format/dates.ts'
import { statusOf } from '../format/names.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Row, Rows } from '../ui/rows.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

const weekMs = 7 * 86_400_000
const most = 5
const failing = new Set(['degraded', 'needs_reauth', 'failed'])

/** What waits for somebody: each row leads to where it is settled. */
export function Attention({ today }: { today: number }) {
	const summaries = { fields: 'summary', expand: ['company'], limit: most } as const
	const overdue = useInfiniteQuery(list('invoices.list', { ...summaries, isOverdue: true, sortBy: 'dueDate', sortOrder: 'asc' }))
	const drafts = useInfiniteQuery(
		list('invoices.list', { ...summaries, status: ['draft'], createdTo: today - weekMs, sortOrder: 'asc' }),
	)
	const { is } = useSession()
	const endpoints = useInfiniteQuery({ ...list('webhooks.endpoints.list', { limit: 100 }), enabled: is('manager') })
	const connections = useInfiniteQuery(list('connections.list', { limit: 100 }))
	const queries = [overdue, drafts, endpoints, connections]
	const error = queries.find((query) => query.isError)?.error
	const rows: ReactNode[] = [
		...(overdue.data?.pages[0]?.rows.map((invoice) => <Overdue key={invoice.id} invoice={invoice as Listed} />) ?? []),
		...(drafts.data?.pages[0]?.rows.map((invoice) => <Draft key={invoice.id} invoice={invoice as Listed} />) ?? []),
		...(endpoints.data?.pages[0]?.rows ?? [])
			.filter(({ status, failingSince }) => status === 'disabled' || (status === 'active' && failingSince !== null))
			.map((endpoint) => <Endpoint key={endpoint.id} {...endpoint} />),
		...(connections.data?.pages[0]?.rows ?? [])
			.filter(({ status }) => failing.has(status))
			.map((connection) => <Connection key={connection.id} {...connection} />),
	]
	return (
		<Card title="Needs attention" isFlush>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			{rows.length > 0 && <Rows label="Needs attention">{rows}</Rows>}
			{rows.length === 0 && queries.some((query) => query.isPending) && <Skeleton rows={3} />}
			{rows.length === 0 && queries.every((query) => query.isSuccess) && (
				<EmptyState icon={<CircleCheck size={22} />} title="Nothing waits for you">
					Overdue invoices, old drafts and what fails to connect are shown here.
				</EmptyState>
			)}
		</Card>
	)
}

type Listed = InvoiceSummary

const toInvoice = ({ id, invoiceNumber }: Listed) => (
	<Link to="/invoices/$id" params={{ id }}>
		{invoiceNumber}
	</Link>
)

function Overdue({ invoice }: { invoice: Listed }) {
	const { locale, timeZone } = useSession()
	const { company, dueDate, amountDueCents, currency } = invoice
	const since = dueDate ? `due ${showDay(dayOf(dueDate, timeZone), locale)}` : 'overdue'
	return (
		<Row
			icon={<Clock size={16} />}
			tone="bad"
			title={toInvoice(invoice)}
			note={[company?.name, since].filter(Boolean).join(' · ')}
			figure={showAmount(amountDueCents, currency, locale)}
		/>
	)
}

function Draft({ invoice }: { invoice: Listed }) {
	const { locale } = useSession()
	const { company, createdAt, totalCents, currency } = invoice
	const since = `draft since ${showAgo(createdAt, Date.now()).replace(/ ago$/, '')}`
	return (
		<Row
			icon={<FileText size={16} />}
			tone="warn"
			title={toInvoice(invoice)}
			note={[company?.name, since].filter(Boolean).join(' · ')}
			figure={showAmount(totalCents, currency, locale)}
		/>
	)
}

interface EndpointProps {
	readonly id: string
	readonly url: string
	readonly status: string
	readonly failingSince: number | null
}

function Endpoint({ id, url, status, failingSince }: EndpointProps) {
	const since = failingSince ? `failing, ${showAgo(failingSince, Date.now())}` : 'failing'
	return (
		<Row
			icon={<Webhook size={16} />}
			tone="bad"
			title={
				<Link to="/webhooks/endpoints/$id" params={{ id }}>
					{new URL(url).host}
				</Link>
			}
			note={status === 'disabled' ? 'Webhooks are stopped' : `Webhooks: ${since}`}
		/>
	)
}

function Connection({ id, name, status }: { id: string; name: string; status: string }) {
	const { label, tone } = statusOf(status)
	return (
		<Row
			icon={<Plug size={16} />}
			tone={tone}
			title={
				<Link to="/connections/$id" params={{ id }}>
					{name}
				</Link>
			}
			note={`Connection: ${label.toLowerCase()}`}
		/>
	)
}
