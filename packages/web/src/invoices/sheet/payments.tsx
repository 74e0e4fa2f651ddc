import type { Invoice } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { list } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { showAmount } from '../../format/amount.ts'
import { dayOf, showDay } from '../../format/dates.ts'
import { words } from '../../format/names.ts'
import { Card } from '../../ui/card.tsx'

/** The payments of an invoice; nothing while there are none. */
export function Payments({ invoice: { id } }: { invoice: Invoice }) {
	const { locale, timeZone } = useSession()
	const { data } = useInfiniteQuery(list('payments.list', { invoiceId: id, limit: 50 }))
	const payments = data?.pages.flatMap(({ rows }) => rows) ?? []
	if (payments.length === 0) return null
	return (
		<Card title="Payments">
			{payments.map((payment) => {
				const { method, source, reference, status } = payment
				const own = payment.allocations.find(({ invoiceId }) => invoiceId === id)
				return (
					<div key={payment.id} className="payment">
						<div>
							<div>{method ?? (source === 'status' ? 'Marked as paid' : words(source))}</div>
							<div className="note">
								{[showDay(dayOf(payment.paidAt, timeZone), locale), reference, status !== 'succeeded' && words(status)]
									.filter(Boolean)
									.join(' · ')}
							</div>
						</div>
						<strong>{showAmount(own?.amountCents ?? payment.amountCents, payment.currency, locale)}</strong>
					</div>
				)
			})}
		</Card>
	)
}
