import type { User, UserRole } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ChevronDown, Ellipsis, MonitorSmartphone, UserMinus } from 'lucide-react'
import { describe } from '../../api/errors.ts'
import { list, useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { showAgo } from '../../format/dates.ts'
import { words } from '../../format/names.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.ts'
import type { Open } from './page.tsx'
import { roles } from './roles.ts'

export function People({ onOpen }: { onOpen: (open: Open) => void }) {
	const { personId, is } = useSession()
	const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(list('users.list', { limit: 100 }))
	const update = useWrite('users.update')
	if (!data) return error ? <ErrorPanel {...describe(error)} onRetry={() => void refetch()} /> : <Skeleton rows={4} />
	const give = ({ id, name, version }: User, role: UserRole) =>
		update.mutate([id, { role }, { ifMatch: version }], {
			onSuccess: () => toast(`${name} is ${words(role).toLowerCase()} now`),
			onError: () => void refetch(),
		})
	return (
		<Card isFlush>
			{update.error && <ErrorPanel isSmall {...describe(update.error)} />}
			<Table
				label="People"
				rows={data.pages.flatMap(({ rows }) => rows)}
				idOf={({ id }) => id}
				onEnd={hasNextPage ? () => void fetchNextPage() : undefined}
				columns={[
					{
						id: 'name',
						label: 'Name',
						grow: 3,
						phone: 'title',
						cell: ({ id, name }) => (
							<>
								<span>{name}</span> {id === personId && <span className="quiet">(you)</span>}
							</>
						),
					},
					{ id: 'email', label: 'E-mail', grow: 4, phone: 'note', cell: ({ email }) => <span className="quiet">{email}</span> },
					{
						id: 'seen',
						label: 'Last sign-in',
						grow: 2,
						cell: ({ lastSignInAt }) => (lastSignInAt === null ? 'Never' : showAgo(lastSignInAt, Date.now())),
					},
					{
						id: 'role',
						label: 'Role',
						grow: 2,
						phone: 'aside',
						cell: (person) =>
							is('admin') ? (
								<Menu
									label={`Role of ${person.name}`}
									actions={roles.map(({ id, label }) => ({
										id,
										label,
										note: id === person.role ? '✓' : undefined,
										onAction: () => id !== person.role && give(person, id),
									}))}
								>
									<Button
										isSmall
										look="quiet"
										aria-label={`Role of ${person.name}: ${words(person.role)}`}
										mark={<ChevronDown />}
									>
										{words(person.role)}
									</Button>
								</Menu>
							) : (
								words(person.role)
							),
					},
					...(is('admin') ? [more(personId, onOpen)] : []),
				]}
			/>
		</Card>
	)
}

const more = (personId: string, onOpen: (open: Open) => void) => ({
	id: 'more',
	label: 'Actions',
	grow: 1.2,
	isNumber: true,
	phone: 'figure' as const,
	cell: (person: User) => (
		<Menu
			label={person.name}
			actions={[
				{
					id: 'sessions',
					label: 'Sessions',
					icon: <MonitorSmartphone />,
					onAction: () => onOpen({ dialog: 'sessions', person }),
				},
				...(person.id === personId
					? []
					: [
							{
								id: 'remove',
								label: 'Remove',
								icon: <UserMinus />,
								isDangerous: true,
								onAction: () => onOpen({ dialog: 'remove', person }),
							},
						]),
			]}
		>
			<Button look="quiet" isSmall aria-label={`More: ${person.name}`} icon={<Ellipsis />} />
		</Menu>
	),
})
