import type { Connection, Provider } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { Plug } from 'lucide-react'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { showAgo } from '../format/dates.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { authTypes } from './words.ts'
import '../ui/button.css'
import './connections.css'

export default function ConnectionsPage() {
	const { may } = useSession()
	const { rows, onEnd, isStale, failure } = usePages('connections.list', { limit: 100 }, { pollAfter: 10_000 })
	const providers = usePages('connections.providers.list', { limit: 100 })
	const nameOf = (id: string) => providers.rows?.find((provider) => provider.id === id)?.name ?? id
	const columns: readonly Column<Connection>[] = [
		{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
		{
			id: 'status',
			label: 'Health',
			grow: 2,
			phone: 'figure',
			cell: ({ status }) => {
				const { label, tone } = statusOf(status)
				return <Badge tone={tone}>{label}</Badge>
			},
		},
		{
			id: 'provider',
			label: 'Provider',
			grow: 2,
			phone: 'note',
			cell: ({ provider }) => <span className="quiet">{nameOf(provider)}</span>,
		},
		{
			id: 'account',
			label: 'Account',
			grow: 2,
			cell: ({ account }) => <span className="quiet">{account?.displayName ?? account?.externalId ?? '–'}</span>,
		},
		{
			id: 'success',
			label: 'Last success',
			grow: 2,
			isNumber: true,
			cell: ({ lastSuccessAt }) => <span className="quiet">{lastSuccessAt ? showAgo(lastSuccessAt, Date.now()) : '–'}</span>,
		},
	]
	return (
		<>
			<PageHeader title="Connections" />
			<Card isFlush>
				<Loaded data={rows} failure={failure} rows={3}>
					{(connections) =>
						connections.length === 0 ? (
							<EmptyState icon={<Plug size={22} />} title="No connections yet">
								A connection opens your account in another system, so that a sync can read and write there.{' '}
								{may('admin') ? 'Choose a provider below.' : 'Only an admin of the organization can connect one.'}
							</EmptyState>
						) : (
							<Table
								label="Connections"
								columns={columns}
								rows={connections}
								idOf={({ id }) => id}
								onEnd={onEnd}
								isStale={isStale}
								link={({ id }, content) => (
									<Link to="/connections/$id" params={{ id }}>
										{content}
									</Link>
								)}
							/>
						)
					}
				</Loaded>
			</Card>
			{may('admin') && (
				<section className="providers-part">
					<h2>{rows?.length === 0 ? 'Connect a provider' : 'Connect another'}</h2>
					<Loaded data={providers.rows} failure={providers.failure} rows={2}>
						{(all) => (
							<div className="providers">
								{all.map((provider) => (
									<ProviderCard key={provider.id} provider={provider} />
								))}
							</div>
						)}
					</Loaded>
				</section>
			)}
		</>
	)
}

const ProviderCard = ({ provider: { id, name, authTypes: ways, objects } }: { provider: Provider }) => (
	<Card>
		<div className="provider">
			<div>
				<h3>{name}</h3>
				<p className="quiet-text">{ways.map((way) => authTypes[way] ?? way).join(' · ')}</p>
				{objects.length > 0 && <p className="quiet-text">Has {objects.map((object) => object.name).join(', ')}</p>}
			</div>
			<Link to="/connections/new" search={{ provider: id }} className="button plain" aria-label={`Connect ${name}`}>
				Connect
			</Link>
		</div>
	</Card>
)
