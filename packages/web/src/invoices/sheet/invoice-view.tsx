import type { ExpandedInvoice } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { CircleCheck, Pencil, Send } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { invoiceStatus } from '../../format/names.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { InDialog } from '../../ui/places.tsx'
import { MoreMenu } from './more-menu.tsx'
import { Payments } from './payments.tsx'
import { Sheet } from './sheet.tsx'
import { Standing } from './standing.tsx'
import { TimeLine } from './time-line.tsx'

// On first use: most visits only look.
const SendDialog = onFirstUse(() => import('./send-dialog.tsx'), InDialog)
const PayDialog = onFirstUse(() => import('./pay-dialog.tsx'), InDialog)
const EndDialog = onFirstUse(() => import('./end-dialog.tsx'), InDialog)
const LinkDialog = onFirstUse(() => import('./link-dialog.tsx'), InDialog)
const PdfDialog = onFirstUse(() => import('./pdf-dialog.tsx'), InDialog)

export type InvoiceDialog = 'pay' | 'cancel' | 'delete' | 'clientLink' | 'paymentLink' | 'pdf'

interface InvoiceViewProps {
	readonly invoice: ExpandedInvoice
	readonly above: ReactNode
	/** Whether the dialog to send it is open, which has an address of its own. */
	readonly isSending: boolean
	readonly onSending: (isSending: boolean) => void
}

export function InvoiceView({ invoice, above, isSending, onSending }: InvoiceViewProps) {
	const [dialog, setDialog] = useState<InvoiceDialog>()
	const { label, tone } = invoiceStatus(invoice)
	const close = () => setDialog(undefined)
	const { status, amountDueCents } = invoice
	// Also of one that somebody called paid, and that owes something since.
	const isOwed = ['sent', 'overdue'].includes(status) || (status === 'paid' && amountDueCents > 0)
	return (
		<>
			<PageHeader
				title={invoice.invoiceNumber}
				above={above}
				beside={<Badge tone={tone}>{label}</Badge>}
				actions={
					<>
						<MoreMenu invoice={invoice} onDialog={setDialog} onSend={() => onSending(true)} />
						<Link to="/invoices/$id/edit" params={{ id: invoice.id }} className="button plain" data-key="edit">
							<Pencil aria-hidden="true" />
							Edit
						</Link>
						{invoice.status === 'draft' && (
							<Button look="primary" icon={<Send />} onPress={() => onSending(true)}>
								Send
							</Button>
						)}
						{isOwed && (
							<Button look="primary" icon={<CircleCheck />} onPress={() => setDialog('pay')}>
								Mark paid
							</Button>
						)}
					</>
				}
			/>
			<div className="columns">
				<div className="stack">
					<Sheet id={invoice.id} />
				</div>
				<div className="stack">
					<Standing invoice={invoice} onDialog={setDialog} />
					<Payments invoice={invoice} />
					<TimeLine invoice={invoice} />
				</div>
			</div>

			{isSending && <SendDialog invoice={invoice} onClose={() => onSending(false)} />}
			{dialog === 'pay' && <PayDialog invoice={invoice} onClose={close} />}
			{(dialog === 'cancel' || dialog === 'delete') && <EndDialog invoice={invoice} action={dialog} onClose={close} />}
			{(dialog === 'clientLink' || dialog === 'paymentLink') && <LinkDialog invoice={invoice} kind={dialog} onClose={close} />}
			{dialog === 'pdf' && <PdfDialog invoice={invoice} onClose={close} />}
		</>
	)
}
