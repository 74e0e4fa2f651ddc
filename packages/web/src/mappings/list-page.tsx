import type { Mapping } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { Plus, Shuffle } from 'lucide-react'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { useSides } from './use-sides.ts'
import '../ui/button.css'

export default function MappingsPage() {
	const { rows, onEnd, isStale, failure } = usePages('mappings.list', { limit: 100 })
	const { may } = useSession()
	const showSides = useSides()
	const columns: readonly Column<Mapping>[] = [
		{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
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
		{
			id: 'sides',
			label: 'From and to',
			grow: 4,
			phone: 'note',
			cell: (mapping) => <span className="quiet">{showSides(mapping)}</span>,
		},
		{ id: 'fields', label: 'Fields', grow: 1, isNumber: true, cell: ({ fields }) => fields.length },
	]
	return (
		<>
			<PageHeader
				title="Mappings"
				actions={
					may('write') && (
						<Link to="/mappings/new" className="button primary" data-key="new">
							<Plus aria-hidden="true" />
							New mapping
						</Link>
					)
				}
			/>
			<Card isFlush>
				<Loaded data={rows} failure={failure}>
					{(mappings) =>
						mappings.length === 0 ? (
							<EmptyState
								icon={<Shuffle size={22} />}
								title="No mappings yet"
								action={
									may('write') && (
										<Link to="/mappings/new" className="button plain">
											New mapping
										</Link>
									)
								}
							>
								A mapping says how the fields of another system become those of Remit, or the other way.
							</EmptyState>
						) : (
							<Table
								label="Mappings"
								columns={columns}
								rows={mappings}
								idOf={({ id }) => id}
								onEnd={onEnd}
								isStale={isStale}
								link={({ id }, content) => (
									<Link to="/mappings/$id" params={{ id }}>
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
