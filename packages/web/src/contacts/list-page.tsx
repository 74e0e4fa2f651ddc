import type { Contact } from '@remit/sdk'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Plus, Users } from 'lucide-react'
import { useCallback } from 'react'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { dayIn, showDay } from '../format/dates.ts'
import { useNames } from '../forms/use-names.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { NoMatch } from '../ui/no-match.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { type Column, Table } from '../ui/table.tsx'
import '../ui/button.css'

const route = getRouteApi('/contacts')

export default function ContactsPage() {
	const { may } = useSession()
	const { search } = route.useSearch()
	const navigate = route.useNavigate()
	const onSearch = useCallback(
		(text: string) => void navigate({ to: '/contacts', search: { search: text || undefined }, replace: true }),
		[navigate],
	)
	const { rows, total, onEnd, isStale, failure } = usePages('contacts.list', { limit: 100, ...(search && { search }) })
	return (
		<>
			<PageHeader title="Contacts" actions={may('contacts:write') && <NewContact look="primary" />} />
			<div className="toolbar">
				<SearchField label="Search contacts" value={search ?? ''} onSearch={onSearch} />
				{total !== undefined && <span className="toolbar-count">{total === 1 ? '1 contact' : `${total} contacts`}</span>}
			</div>
			{failure && <ErrorPanel {...failure} />}
			{(rows || !failure) && (
				<Card isFlush>
					{!rows && <Skeleton />}
					{rows?.length === 0 && (search ? <NoMatch kind="contact" search={search} clear={clearSearch} /> : <NoContacts />)}
					{rows && rows.length > 0 && <People rows={rows} onEnd={onEnd} isStale={isStale} />}
				</Card>
			)}
		</>
	)
}

function People({ rows, ...props }: { rows: readonly Contact[]; onEnd: (() => void) | undefined; isStale: boolean }) {
	const { locale, timeZone } = useSession()
	const names = useNames(
		'companies',
		rows.map(({ companyId }) => companyId),
	)
	const columns: readonly Column<Contact>[] = [
		{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
		{
			id: 'company',
			label: 'Company',
			grow: 3,
			phone: 'note',
			cell: ({ companyId }) => <span className="quiet">{names.get(companyId ?? '') ?? '–'}</span>,
		},
		{ id: 'email', label: 'E-mail', grow: 3, cell: ({ email }) => <span className="quiet">{email ?? '–'}</span> },
		{ id: 'phone', label: 'Phone', grow: 2, cell: ({ phone }) => <span className="quiet">{phone ?? '–'}</span> },
		{
			id: 'created',
			label: 'Created',
			grow: 2,
			isNumber: true,
			cell: ({ createdAt }) => <span className="quiet">{showDay(dayIn(timeZone, createdAt), locale)}</span>,
		},
	]
	return (
		<Table
			{...props}
			label="Contacts"
			columns={columns}
			rows={rows}
			idOf={({ id }) => id}
			link={({ id }, content) => (
				<Link to="/contacts/$id" params={{ id }}>
					{content}
				</Link>
			)}
		/>
	)
}

const NewContact = ({ look }: { look: 'primary' | 'plain' }) => (
	<Link to="/contacts/new" className={`button ${look}`} data-key={look === 'primary' ? 'new' : undefined}>
		<Plus aria-hidden="true" />
		New contact
	</Link>
)

const clearSearch = (
	<Link to="/contacts" search={{}} className="button plain">
		Clear search
	</Link>
)

const NoContacts = () => (
	<EmptyState icon={<Users size={22} />} title="No contacts yet" action={<NewContact look="plain" />}>
		A contact is a person at a company: who you talk to about a deal.
	</EmptyState>
)
