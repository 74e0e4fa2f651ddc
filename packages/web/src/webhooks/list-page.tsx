import type { WebhookEndpoint } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, Webhook } from 'lucide-react'
import { usePages } from '../api/pages.ts'
import { read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { OnlyFor } from '../forms/only-for.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Health, showEvents, showRate } from './health.tsx'
import { Views } from './views.tsx'
import '../ui/button.css'

export default function EndpointsPage() {
	const { may } = useSession()
	return (
		<>
			<PageHeader
				title="Webhooks"
				actions={
					may('admin') && (
						<Link to="/webhooks/new" className="button primary" data-key="new">
							<Plus aria-hidden="true" />
							New endpoint
						</Link>
					)
				}
			/>
			<OnlyFor need="manager">
				<Views />
				<Endpoints mayAdd={may('admin')} />
			</OnlyFor>
		</>
	)
}

function Endpoints({ mayAdd }: { mayAdd: boolean }) {
	const { rows, onEnd, isStale, failure } = usePages('webhooks.endpoints.list', { limit: 100 })
	return (
		<Card isFlush>
			<Loaded data={rows} failure={failure}>
				{(endpoints) =>
					endpoints.length === 0 ? (
						<NoEndpoints mayAdd={mayAdd} />
					) : (
						<Table
							label="Endpoints"
							columns={columns}
							rows={endpoints}
							idOf={({ id }) => id}
							onEnd={onEnd}
							isStale={isStale}
							link={({ id }, content) => (
								<Link to="/webhooks/endpoints/$id" params={{ id }}>
									{content}
								</Link>
							)}
						/>
					)
				}
			</Loaded>
		</Card>
	)
}

const columns: readonly Column<WebhookEndpoint>[] = [
	{ id: 'url', label: 'URL', grow: 4, phone: 'title', cell: ({ url }) => url.replace(/^https?:\/\//, '') },
	{ id: 'health', label: 'Health', grow: 2, phone: 'figure', cell: (endpoint) => <Health endpoint={endpoint} /> },
	{
		id: 'events',
		label: 'Events',
		grow: 3,
		phone: 'note',
		cell: ({ eventTypes }) => <span className="quiet">{showEvents(eventTypes)}</span>,
	},
	{ id: 'rate', label: 'Accepted, 24 h', grow: 1.5, isNumber: true, cell: ({ id }) => <SuccessRate id={id} /> },
]

function SuccessRate({ id }: { id: string }) {
	const { data } = useQuery({ ...read('webhooks.endpoints.stats', id), staleTime: 60_000 })
	return <span className="quiet">{data ? showRate(data.successRate) : ''}</span>
}

const NoEndpoints = ({ mayAdd }: { mayAdd: boolean }) => (
	<EmptyState
		icon={<Webhook size={22} />}
		title="No endpoints yet"
		action={
			mayAdd && (
				<Link to="/webhooks/new" className="button plain">
					New endpoint
				</Link>
			)
		}
	>
		An endpoint is a URL of yours that gets a signed request for each event, such as when an invoice is paid.
	</EmptyState>
)
