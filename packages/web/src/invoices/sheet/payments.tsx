import type { Invoice, Payment } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { paymentsQuery } from '../../api/first-reads.ts'
import { useSession } from '../../api/session.ts'
import { showAmount } from '../../format/amount.ts'
import { dayOf, showDay } from '../../format/dates.ts'
import { words } from '../../format/names.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { InDialog } from '../../ui/places.tsx'

// On first use: most visits only look.
const ReverseDialog = onFirstUse(() => import('./reverse-dialog.tsx'), InDialog)

/** The payments of an invoice; nothing while there are none. */
export function Payments({ invoice: { id } }: { invoice: Invoice }) {
	const { locale, timeZone, may } = useSession()
	const { data } = useInfiniteQuery(paymentsQuery(id))
	const [reversing, setReversing] = useState<Payment>()
	const payments = data?.pages.flatMap(({ rows }) => rows) ?? []
	if (payments.length === 0) return null
	const amount = (cents: number, { currency }: Payment) => showAmount(cents, currency, locale)
	return (
		<Card title="Payments">
			{payments.map((payment) => {
				const { method, source, reference, status, availableCents } = payment
				const own = payment.allocations.find(({ invoiceId }) => invoiceId === id)
				const notes = [
					showDay(dayOf(payment.paidAt, timeZone), locale),
					reference,
					status !== 'succeeded' && words(status),
					availableCents > 0 && (own ? `${amount(availableCents, payment)} more, on no invoice` : 'not on this invoice any more'),
				]
				return (
					<div key={payment.id} className="payment">
						<div>
							<div>{method ?? (source === 'status' ? 'Marked as paid' : words(source))}</div>
							<div className="note">{notes.filter(Boolean).join(' · ')}</div>
						</div>
						<strong>{amount(own?.amountCents ?? payment.amountCents, payment)}</strong>
						{source === 'manual' && status === 'succeeded' && may('payments:write') && (
							<Button
								look="quiet"
								isSmall
								icon={<Undo2 />}
								aria-label={`Reverse the payment of ${amount(payment.amountCents, payment)}`}
								onPress={() => setReversing(payment)}
							/>
						)}
					</div>
				)
			})}
			{reversing && (
				<ReverseDialog
					payment={reversing}
					amount={amount(reversing.amountCents, reversing)}
					onClose={() => setReversing(undefined)}
				/>
			)}
		</Card>
	)
}
