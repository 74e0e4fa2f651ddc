import type { WebhookEventType } from '@remit/sdk'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { usePages } from '../api/pages.ts'
import { Card } from '../ui/card.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NoMatch } from '../ui/no-match.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Views } from './views.tsx'

const route = getRouteApi('/webhooks/event-types')

export default function EventTypesPage() {
	const { search = '' } = route.useSearch()
	const navigate = route.useNavigate()
	const onSearch = useCallback(
		(text: string) => void navigate({ to: '/webhooks/event-types', search: { search: text || undefined }, replace: true }),
		[navigate],
	)
	const { rows, onEnd, failure } = usePages('webhooks.eventTypes.list', { limit: 100 })
	const typed = search.toLowerCase()
	const found = rows?.filter(({ type, description }) => `${type} ${description}`.toLowerCase().includes(typed))
	return (
		<>
			<PageHeader title="Event types" />
			<Views />
			<div className="toolbar">
				<SearchField label="Search event types" value={search} onSearch={onSearch} />
			</div>
			<Card isFlush>
				<Loaded data={found} failure={failure}>
					{(types) =>
						types.length === 0 ? (
							<NoMatch kind="type of event" search={search} />
						) : (
							<Table
								label="Event types"
								columns={columns}
								rows={types}
								idOf={({ type }) => type}
								onEnd={onEnd}
								link={({ type }, content) => (
									<Link to="/webhooks/event-types/$type" params={{ type: type.replaceAll('.', '-') }}>
										{content}
									</Link>
								)}
							/>
						)
					}
				</Loaded>
			</Card>
		</>
	)
}

const columns: readonly Column<WebhookEventType>[] = [
	{ id: 'type', label: 'Type', grow: 2, phone: 'title', cell: ({ type }) => type },
	{
		id: 'description',
		label: 'When',
		grow: 5,
		phone: 'note',
		cell: ({ description }) => <span className="quiet">{description.replaceAll('`', '')}</span>,
	},
]
