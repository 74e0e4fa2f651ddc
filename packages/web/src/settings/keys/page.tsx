import type { ApiKey } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Ban, Ellipsis, KeyRound, Plus, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { describe } from '../../api/errors.ts'
import { list } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { showAgo, showTime } from '../../format/dates.ts'
import { usePeople } from '../../forms/use-people.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Menu } from '../../ui/menu.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { InDialog } from '../../ui/places.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { SettingsPage } from '../settings-page.tsx'
import { showScopes, stateOf } from './scopes.ts'

const NewKey = onFirstUse(() => import('./new-key.tsx'), InDialog)
const RotateKey = onFirstUse(() => import('./rotate-key.tsx'), InDialog)
const RevokeKey = onFirstUse(() => import('./revoke-key.tsx'), InDialog)

type Open = { readonly dialog: 'new' } | { readonly dialog: 'rotate' | 'revoke'; readonly apiKey: ApiKey }

export default function KeysPage() {
	const { may, timeZone } = useSession()
	const [open, setOpen] = useState<Open>()
	const close = () => setOpen(undefined)
	const create = may('admin') && (
		<Button look="primary" icon={<Plus />} data-key="new" onPress={() => setOpen({ dialog: 'new' })}>
			New key
		</Button>
	)
	return (
		<SettingsPage title="API keys" actions={create}>
			<Keys onOpen={setOpen} />

			{open?.dialog === 'new' && <NewKey timeZone={timeZone} onClose={close} />}
			{open?.dialog === 'rotate' && <RotateKey apiKey={open.apiKey} onClose={close} />}
			{open?.dialog === 'revoke' && <RevokeKey apiKey={open.apiKey} onClose={close} />}
		</SettingsPage>
	)
}

function Keys({ onOpen }: { onOpen: (open: Open) => void }) {
	const { may } = useSession()
	const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(list('apiKeys.list', { limit: 100 }))
	const keys = data?.pages.flatMap(({ rows }) => rows) ?? []
	const columns = useColumns(keys, onOpen)
	if (!data) return error ? <ErrorPanel {...describe(error)} onRetry={() => void refetch()} /> : <Skeleton rows={4} />
	return (
		<Card isFlush>
			{keys.length === 0 ? (
				<EmptyState icon={<KeyRound />} title="No API keys yet">
					A key lets a program use Remit{may('admin') ? '.' : '; an admin makes it.'}
				</EmptyState>
			) : (
				<Table
					label="API keys"
					rows={keys}
					idOf={({ id }) => id}
					columns={columns}
					onEnd={hasNextPage ? () => void fetchNextPage() : undefined}
				/>
			)}
		</Card>
	)
}

function useColumns(keys: readonly ApiKey[], onOpen: (open: Open) => void): Column<ApiKey>[] {
	const people = usePeople(keys.map(({ createdBy }) => createdBy?.id))
	/** A person, or the key by which a program made it. */
	const makerOf = ({ createdBy }: ApiKey) =>
		people.get(createdBy?.id ?? '')?.name ?? keys.find(({ id }) => id === createdBy?.id)?.name
	const { may, locale, timeZone } = useSession()
	const now = Date.now()
	const when = (time: number | null, none: string) =>
		time === null ? (
			none
		) : (
			<span className="two-lines" title={`${showTime(time, locale, timeZone)} (${timeZone})`}>
				{showAgo(time, now)}
			</span>
		)
	return [
		{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
		{ id: 'key', label: 'Key', grow: 2.4, cell: ({ lastFour }) => <code className="quiet">rmt_…{lastFour}</code> },
		{
			id: 'scopes',
			label: 'May do',
			grow: 3.6,
			cell: ({ scopes }) => (
				<span className="quiet two-lines" title={scopes.join('\n')}>
					{showScopes(scopes)}
				</span>
			),
		},
		{ id: 'maker', label: 'Made by', grow: 2.6, cell: (key) => <span className="two-lines">{makerOf(key) ?? '–'}</span> },
		{ id: 'used', label: 'Last used', grow: 2.4, cell: ({ lastUsedAt }) => when(lastUsedAt, 'Never') },
		{ id: 'expires', label: 'Expires', grow: 2.4, cell: ({ expiresAt }) => when(expiresAt, 'Never') },
		{
			id: 'state',
			label: 'State',
			grow: 2.5,
			phone: 'note',
			cell: (key) => {
				const { label, tone } = stateOf(key, now)
				return <Badge tone={tone}>{label}</Badge>
			},
		},
		{
			id: 'more',
			label: 'Actions',
			grow: 1.5,
			isNumber: true,
			phone: 'figure',
			cell: (apiKey) =>
				may('admin') && stateOf(apiKey, now).isUsable ? (
					<Menu
						label={apiKey.name}
						actions={[
							{ id: 'rotate', label: 'Rotate', icon: <RefreshCw />, onAction: () => onOpen({ dialog: 'rotate', apiKey }) },
							{
								id: 'revoke',
								label: 'Revoke',
								icon: <Ban />,
								isDangerous: true,
								onAction: () => onOpen({ dialog: 'revoke', apiKey }),
							},
						]}
					>
						<Button look="quiet" isSmall aria-label={`More: ${apiKey.name}`} icon={<Ellipsis />} />
					</Menu>
				) : null,
		},
	]
}
