import type { ExpandedInvoice } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { FileText, Link2 } from 'lucide-react'
import { useSession } from '../../api/session.ts'
import { showAmount } from '../../format/amount.ts'
import { addDays, dayIn, dayOf, showAgo, showDay, showTime } from '../../format/dates.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/card.tsx'
import type { InvoiceDialog } from './invoice-view.tsx'
import './standing.css'

/** How the invoice stands, and what gives it to the client in other ways than by e-mail. */
export function Standing({ invoice, onDialog }: { invoice: ExpandedInvoice; onDialog: (dialog: InvoiceDialog) => void }) {
	const { locale, timeZone } = useSession()
	const { amountDueCents, currency, company, deal } = invoice
	const time = (at: number | null) => (at === null ? null : <span title={timeZone}>{showTime(at, locale, timeZone)}</span>)
	return (
		<Card>
			<div>
				<div className="standing-label">{invoice.status === 'draft' ? 'Total' : 'Amount due'}</div>
				<div className="standing-amount">
					{showAmount(invoice.status === 'draft' ? invoice.totalCents : amountDueCents, currency, locale)}
				</div>
				<div className="standing-label">{dueWords(invoice, locale, timeZone)}</div>
			</div>
			<div className="standing-actions">
				<Button icon={<Link2 />} onPress={() => onDialog('clientLink')}>
					Copy client link
				</Button>
				<Button icon={<FileText />} onPress={() => onDialog('pdf')}>
					PDF
				</Button>
			</div>
			<Facts
				facts={[
					[
						'Client',
						company && (
							<Link to="/companies/$id" params={{ id: company.id }}>
								{company.name}
							</Link>
						),
					],
					[
						'Deal',
						deal && (
							<Link to="/deals/$id" params={{ id: deal.id }}>
								{deal.name}
							</Link>
						),
					],
					['Sent', time(invoice.sentAt)],
					['First viewed', time(invoice.viewedAt)],
					['Views', invoice.viewCount || null],
					['Paid by', amountDueCents > 0 ? null : invoice.paymentMethod],
				]}
			/>
		</Card>
	)
}

function dueWords({ dueDate, status }: ExpandedInvoice, locale: string, timeZone: string): string {
	if (status === 'cancelled') return 'Nothing is owed: it is cancelled'
	if (dueDate === null) return status === 'paid' ? 'No due date' : 'No due date: it never becomes overdue'
	const due = dayOf(dueDate, timeZone)
	const words = `Due ${showDay(due, locale)}`
	if (status === 'paid' || status === 'draft') return words
	const today = dayIn(timeZone, Date.now())
	const near = due === today ? 'today' : due === addDays(today, 1) ? 'tomorrow' : showAgo(Date.parse(due), Date.parse(today))
	return `${words}, ${near}`
}
