import type { WebhookDelivery } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { showAgo } from '../format/dates.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { type Column, Table } from '../ui/table.tsx'

interface DeliveriesProps {
	readonly rows: readonly WebhookDelivery[]
	readonly onEnd?: (() => void) | undefined
	readonly isStale?: boolean
	/** URLs of endpoints by their ids; without it the column is left out. */
	readonly urls?: ReadonlyMap<string, string>
	/** What stands for the other endpoints. */
	readonly nameOfOther?: string
}

export function Deliveries({ rows, urls, nameOfOther, ...props }: DeliveriesProps) {
	const to: Column<WebhookDelivery> = {
		id: 'endpoint',
		label: 'Endpoint',
		grow: 3,
		cell: ({ endpointId }) => <span className="quiet">{urls?.get(endpointId) ?? nameOfOther}</span>,
	}
	return (
		<Table
			{...props}
			label="Deliveries"
			rows={rows}
			idOf={({ id }) => id}
			columns={[
				{ id: 'event', label: 'Event', grow: 3, phone: 'title', cell: ({ eventType }) => eventType },
				{
					id: 'status',
					label: 'Status',
					grow: 2,
					phone: 'figure',
					cell: ({ status }) => {
						const { label, tone } = statusOf(status)
						return <Badge tone={tone}>{label}</Badge>
					},
				},
				...(urls ? [to] : []),
				{
					id: 'answer',
					label: 'Answer',
					grow: 3,
					cell: ({ lastResponseStatus, lastError }) => <span className="quiet">{lastResponseStatus ?? lastError ?? '–'}</span>,
				},
				{
					id: 'when',
					label: 'Created',
					grow: 3,
					isNumber: true,
					phone: 'note',
					cell: ({ createdAt }) => <span className="quiet">{showAgo(createdAt, Date.now())}</span>,
				},
			]}
			link={({ id }, content) => (
				<Link to="/webhooks/deliveries/$id" params={{ id }}>
					{content}
				</Link>
			)}
		/>
	)
}
