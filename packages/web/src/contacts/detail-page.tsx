import type { Contact } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Ellipsis, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showTime } from '../format/dates.ts'
import { Button } from '../ui/button.tsx'
import { Card, Facts } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Menu } from '../ui/menu.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { InDialog } from '../ui/places.tsx'
import { Deals } from './deals.tsx'

const DeleteContact = onFirstUse(() => import('./delete-contact.tsx'), InDialog)

import { Waiting } from '../ui/waiting.tsx'

const route = getRouteApi('/contacts/$id')
const toList = <Link to="/contacts">Contacts</Link>

export default function ContactPage() {
	const { id } = route.useParams()
	const { data: contact, error, refetch } = useQuery(read('contacts.get', id))
	if (contact) return <Shown contact={contact} />
	if (!error) return <Waiting title="Contact" above={toList} />
	const { isRepeatable, ...trouble } = describe(error)
	return (
		<>
			<PageHeader title="Contact" above={toList} />
			<ErrorPanel {...trouble} onRetry={isRepeatable ? () => void refetch() : undefined} />
		</>
	)
}

function Shown({ contact }: { contact: Contact }) {
	const { locale, timeZone, may } = useSession()
	const [isDeleting, setDeleting] = useState(false)
	const { id, name, email, phone, companyId, updatedAt } = contact
	const company = useQuery({ ...read('companies.get', companyId ?? ''), enabled: companyId !== null }).data
	return (
		<>
			<PageHeader
				title={name}
				above={toList}
				actions={
					may('contacts:write') && (
						<>
							<Menu
								label="More"
								actions={[
									{ id: 'delete', label: 'Delete', icon: <Trash2 />, isDangerous: true, onAction: () => setDeleting(true) },
								]}
							>
								<Button aria-label="More" icon={<Ellipsis />} />
							</Menu>
							<Link to="/contacts/$id/edit" params={{ id }} className="button primary" data-key="edit">
								<Pencil aria-hidden="true" />
								Edit
							</Link>
						</>
					)
				}
			/>
			<div className="columns">
				<Deals contactId={id} />
				<Card title="Details">
					<Facts
						facts={[
							[
								'Company',
								company && (
									<Link to="/companies/$id" params={{ id: company.id }}>
										{company.name}
									</Link>
								),
							],
							['E-mail', email && <a href={`mailto:${email}`}>{email}</a>],
							['Phone', phone && <a href={`tel:${phone.replaceAll(/[^\d+]/g, '')}`}>{phone}</a>],
							['Last changed', showTime(updatedAt, locale, timeZone)],
						]}
					/>
				</Card>
			</div>
			{isDeleting && <DeleteContact contact={contact} onClose={() => setDeleting(false)} />}
		</>
	)
}
