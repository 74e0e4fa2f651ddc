import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { describe } from '../api/errors.ts'
import { list } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Row, Rows } from '../ui/rows.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

/** The people at a company. */
export function Contacts({ companyId }: { companyId: string }) {
	const { may } = useSession()
	const { data, error } = useInfiniteQuery(list('contacts.list', { companyId, limit: 100 }))
	const rows = data?.pages[0]?.rows
	const add = (
		<Link to="/contacts/new" search={{ companyId }} className="button plain small">
			<Plus aria-hidden="true" />
			New contact
		</Link>
	)
	return (
		<Card title="Contacts" isFlush actions={may('contacts:write') && add}>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			{!rows && !error && <Skeleton rows={1} />}
			{rows?.length === 0 && <EmptyState title="No contacts yet">The people you talk to at this company.</EmptyState>}
			{rows && rows.length > 0 && (
				<Rows label="Contacts">
					{rows.map(({ id, name, email, phone }) => (
						<Row
							key={id}
							title={
								<Link to="/contacts/$id" params={{ id }}>
									{name}
								</Link>
							}
							note={email ?? phone}
						/>
					))}
				</Rows>
			)}
		</Card>
	)
}
