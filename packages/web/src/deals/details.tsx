import type { Deal, Pipeline } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { showTime } from '../format/dates.ts'
import { Card, Facts } from '../ui/card.tsx'

export function Details({ deal, pipeline, stage }: { deal: Deal; pipeline: Pipeline | undefined; stage: string }) {
	const { locale, timeZone } = useSession()
	const { companyId, contactId, currency, valueCents, hourlyRateCents } = deal
	const company = useQuery({ ...read('companies.get', companyId ?? ''), enabled: companyId !== null }).data
	const contact = useQuery({ ...read('contacts.get', contactId ?? ''), enabled: contactId !== null }).data
	const amount = (cents: number | null) => cents !== null && showAmount(cents, currency, locale)
	return (
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
					[
						'Contact',
						contact && (
							<Link to="/contacts/$id" params={{ id: contact.id }}>
								{contact.name}
							</Link>
						),
					],
					['Value', amount(valueCents) || null],
					['Hourly rate', amount(hourlyRateCents) || "The organization's"],
					['Pipeline', pipeline && `${pipeline.name} · ${stage}`],
					['When an invoice is paid', deal.autoAdvance ? 'It moves on' : 'It stays in its stage'],
					['Last changed', showTime(deal.updatedAt, locale, timeZone)],
				]}
			/>
		</Card>
	)
}
