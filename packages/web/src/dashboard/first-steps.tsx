import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { list, read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { Card } from '../ui/card.tsx'
import { Row, Rows } from '../ui/rows.tsx'

/** What a new organization needs before its first invoice; each step ticks itself off. */
export default function FirstSteps() {
	const { organization, may } = useSession()
	const details = useQuery(read('organization.get'))
	const rates = useInfiniteQuery(list('taxRates.list', { limit: 1 }))
	const companies = useInfiniteQuery(list('companies.list', { limit: 1 }))
	const invoices = useInfiniteQuery(list('invoices.list', { fields: 'summary', limit: 1 }))
	if (![details, rates, companies, invoices].every((query) => query.isSuccess)) return null
	const hasRow = ({ data }: { data: { pages: readonly { rows: readonly unknown[] }[] } | undefined }) =>
		(data?.pages[0]?.rows.length ?? 0) > 0
	const steps: readonly { isDone: boolean; title: string; note: string; to?: LinkProps['to'] }[] = [
		{
			isDone: Boolean(details.data?.addressLine1),
			title: 'Enter your address and tax number',
			note: `Every invoice shows them as those of ${organization.name}.`,
			...(may('organization:write') && { to: '/settings/organization' }),
		},
		{
			isDone: hasRow(rates),
			title: 'Save a tax rate',
			note: 'Chosen once for a line, instead of typed each time.',
			to: '/tax-rates/new',
		},
		{
			isDone: hasRow(companies),
			title: 'Add a company',
			note: 'Who you work for, and where invoices go.',
			to: '/companies/new',
		},
		{ isDone: hasRow(invoices), title: 'Write an invoice', note: 'By hand, or from the time on a deal.', to: '/invoices/new' },
	]
	const open = steps.filter(({ isDone }) => !isDone)
	if (open.length === 0) return null
	return (
		<Card
			title="Get started"
			isFlush
			actions={<span className="row-note">{`${steps.length - open.length} of ${steps.length} done`}</span>}
		>
			<Rows label="First steps">
				{steps.map(({ isDone, title, note, to }, index) => (
					<Row
						key={title}
						icon={isDone ? <Check size={16} /> : index + 1}
						tone={isDone ? 'good' : 'accent'}
						title={isDone || !to ? title : <Link to={to}>{title}</Link>}
						note={isDone ? 'Done' : note}
					/>
				))}
			</Rows>
		</Card>
	)
}
