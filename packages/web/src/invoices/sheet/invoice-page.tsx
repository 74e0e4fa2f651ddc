import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { describe } from '../../api/errors.ts'
import { invoiceQuery } from '../../api/first-reads.ts'
import { read } from '../../api/query.ts'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Waiting } from '../../ui/waiting.tsx'
import { InvoiceView } from './invoice-view.tsx'

const route = getRouteApi('/invoices/$id')
const toList = <Link to="/invoices">Invoices</Link>

export default function InvoicePage() {
	const { id } = route.useParams()
	const { send } = route.useSearch()
	const navigate = route.useNavigate()
	const { data: invoice, error, refetch } = useQuery(invoiceQuery(id))
	// Both are asked for together, and shown together: the sheet would push away what stands below it on a phone.
	const { isPending } = useQuery(read('invoices.document', id))
	if (error && !invoice) {
		const { isRepeatable, ...trouble } = describe(error)
		return (
			<>
				<PageHeader title="Invoice" above={toList} />
				<ErrorPanel {...trouble} onRetry={isRepeatable ? () => void refetch() : undefined} />
			</>
		)
	}
	if (!invoice || isPending) return <Waiting title="Invoice" above={toList} />
	return (
		<InvoiceView
			key={id}
			invoice={invoice}
			above={toList}
			isSending={send === true}
			onSending={(isSending) =>
				void navigate({ to: '/invoices/$id', params: { id }, search: isSending ? { send: true } : {}, replace: true })
			}
		/>
	)
}
