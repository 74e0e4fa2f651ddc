import { useQueries } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Send } from 'lucide-react'
import type { DeliveriesSearch } from '../api/addresses.ts'
import { deliveriesQuery } from '../api/first-reads.ts'
import { usePages } from '../api/pages.ts'
import { read } from '../api/query.ts'
import { statusOf } from '../format/names.ts'
import { OnlyFor } from '../forms/only-for.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NativeSelect } from '../ui/native-select.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Deliveries } from './deliveries.tsx'
import { Views } from './views.tsx'
import './webhooks.css'

const route = getRouteApi('/webhooks/deliveries')
const any = 'any'
const statuses = ['pending', 'delivering', 'succeeded', 'retrying', 'exhausted', 'skipped', 'cancelled'] as const

export default function DeliveriesPage() {
	return (
		<>
			<PageHeader title="Deliveries" />
			<OnlyFor need="manager">
				<Views />
				<AllDeliveries />
			</OnlyFor>
		</>
	)
}

function AllDeliveries() {
	const { status, endpoint, type } = route.useSearch()
	const navigate = route.useNavigate()
	const endpoints = usePages('webhooks.endpoints.list', { limit: 100 })
	const types = usePages('webhooks.eventTypes.list', { limit: 100 })
	const query = deliveriesQuery({ status, endpoint, type })
	const { rows, onEnd, isStale, failure } = usePages('webhooks.deliveries.list', query, { pollAfter: 10_000 })
	const known = new Map(endpoints.rows?.map((one) => [one.id, one]))
	// Those that the first page of endpoints has not.
	const missing = endpoints.rows ? [...new Set(rows?.map(({ endpointId }) => endpointId))].filter((id) => !known.has(id)) : []
	const others = useQueries({ queries: missing.map((id) => ({ ...read('webhooks.endpoints.get', id), staleTime: 60_000 })) })
	for (const { data: one } of others) if (one) known.set(one.id, one)
	const urls = new Map([...known].map(([id, { url }]) => [id, url.replace(/^https?:\/\//, '')]))
	const areRead = endpoints.rows !== undefined && others.every(({ isPending }) => !isPending)
	const set = (change: DeliveriesSearch) =>
		void navigate({ to: '/webhooks/deliveries', search: { status, endpoint, type, ...change }, replace: true })
	const chosen = (id: string) => (id === any ? undefined : id)
	return (
		<>
			<div className="filters">
				<NativeSelect
					label="Status"
					value={status ?? any}
					choices={[{ id: any, label: 'Any status' }, ...statuses.map((id) => ({ id, label: statusOf(id).label }))]}
					onChange={(id) => set({ status: chosen(id) })}
				/>
				<NativeSelect
					label="Endpoint"
					value={endpoint ?? any}
					choices={[{ id: any, label: 'Any endpoint' }, ...[...urls].map(([id, label]) => ({ id, label }))]}
					onChange={(id) => set({ endpoint: chosen(id) })}
				/>
				<NativeSelect
					label="Event"
					value={type ?? any}
					choices={[{ id: any, label: 'Any event' }, ...(types.rows ?? []).map((one) => ({ id: one.type, label: one.type }))]}
					onChange={(id) => set({ type: chosen(id) })}
				/>
			</div>
			<Card isFlush>
				<Loaded data={rows} failure={failure}>
					{(deliveries) =>
						deliveries.length > 0 ? (
							<Deliveries
								rows={deliveries}
								urls={urls}
								nameOfOther={areRead ? 'Deleted endpoint' : '…'}
								onEnd={onEnd}
								isStale={isStale}
							/>
						) : (status ?? endpoint ?? type) ? (
							<NoMatch />
						) : (
							<EmptyState
								icon={<Send size={22} />}
								title="No deliveries yet"
								action={
									<Link to="/webhooks" className="button plain">
										See the endpoints
									</Link>
								}
							>
								Each event that goes to an endpoint is listed here, with what was sent and what the endpoint answered.
							</EmptyState>
						)
					}
				</Loaded>
			</Card>
		</>
	)
}

const NoMatch = () => (
	<EmptyState
		title="No match"
		action={
			<Link to="/webhooks/deliveries" search={{}} className="button plain">
				Clear filters
			</Link>
		}
	>
		No delivery is like that.
	</EmptyState>
)
