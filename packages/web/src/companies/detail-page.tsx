import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Ellipsis, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showTime } from '../format/dates.ts'
import { languageName } from '../format/names.ts'
import { Button } from '../ui/button.tsx'
import { Card, Facts } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Menu } from '../ui/menu.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { InDialog } from '../ui/places.tsx'
import { Contacts } from './contacts.tsx'
import { Deals } from './deals.tsx'
import { Invoices } from './invoices.tsx'

const DeleteCompany = onFirstUse(() => import('./delete-company.tsx'), InDialog)

import { Waiting } from '../ui/waiting.tsx'

const route = getRouteApi('/companies/$id')
const toList = <Link to="/companies">Companies</Link>

export default function CompanyPage() {
	const { id } = route.useParams()
	const { data: company, error, refetch } = useQuery(read('companies.get', id))
	const { locale, timeZone } = useSession()
	const [isDeleting, setDeleting] = useState(false)
	if (error && !company) {
		const { isRepeatable, ...trouble } = describe(error)
		return (
			<>
				<PageHeader title="Company" above={toList} />
				<ErrorPanel {...trouble} onRetry={isRepeatable ? () => void refetch() : undefined} />
			</>
		)
	}
	if (!company) return <Waiting title="Company" above={toList} />
	const address = [
		company.billingContactName,
		company.billingAddressLine1,
		company.billingAddressLine2,
		[company.billingPostalCode, company.billingCity].filter(Boolean).join(' '),
		company.billingState,
		company.billingCountry,
	]
	return (
		<>
			<PageHeader
				title={company.name}
				above={toList}
				actions={
					<>
						<Menu
							label="More"
							actions={[
								{ id: 'delete', label: 'Delete', icon: <Trash2 />, isDangerous: true, onAction: () => setDeleting(true) },
							]}
						>
							<Button aria-label="More" icon={<Ellipsis />} />
						</Menu>
						<Link to="/companies/$id/edit" params={{ id }} className="button primary" data-key="edit">
							<Pencil aria-hidden="true" />
							Edit
						</Link>
					</>
				}
			/>
			<div className="columns">
				<div className="stack">
					<Invoices companyId={id} />
					<Deals companyId={id} />
				</div>
				<div className="stack">
					<Card title="Details">
						<Facts
							facts={[
								['Website', company.domain],
								['Phone', company.phone],
								['Invoices go to', company.billingEmail],
								['Billing address', address.filter(Boolean).join('\n')],
								['VAT ID', company.vatId],
								['Tax number', company.taxId],
								['Language of invoices', company.language && languageName(company.language)],
								['Notes', company.notes],
								['Last changed', showTime(company.updatedAt, locale, timeZone)],
							]}
						/>
					</Card>
					<Contacts companyId={id} />
				</div>
			</div>
			{isDeleting && <DeleteCompany company={company} onClose={() => setDeleting(false)} />}
		</>
	)
}
