import type { Invoice } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Ban, CircleCheck, Copy, CreditCard, Ellipsis, Send, Trash2, Undo2 } from 'lucide-react'
import { describe } from '../../api/errors.ts'
import { paymentsQuery } from '../../api/first-reads.ts'
import { useIdempotencyKey } from '../../api/idempotency-key.ts'
import { useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Menu, type MenuAction } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.ts'
import { copyOf } from './copy-of.ts'
import type { InvoiceDialog } from './invoice-view.tsx'

interface MoreMenuProps {
	readonly invoice: Invoice
	readonly onDialog: (dialog: InvoiceDialog) => void
	readonly onSend: () => void
}

/** Everything that can be done with an invoice and is not done every day. */
export function MoreMenu({ invoice, onDialog, onSend }: MoreMenuProps) {
	const { is } = useSession()
	const { status } = invoice
	const { duplicate, error: notDuplicated } = useDuplicate(invoice)
	const { markNotPaid, error: notMarked } = useMarkNotPaid(invoice)
	const error = notDuplicated ?? notMarked
	const actions: (MenuAction | false)[] = [
		status !== 'draft' && status !== 'cancelled' && { id: 'send', label: 'Send again', icon: <Send />, onAction: onSend },
		status === 'draft' && { id: 'pay', label: 'Mark paid', icon: <CircleCheck />, onAction: () => onDialog('pay') },
		markNotPaid !== undefined && { id: 'notPaid', label: 'Mark as not paid', icon: <Undo2 />, onAction: markNotPaid },
		status !== 'cancelled' &&
			invoice.amountDueCents > 0 && {
				id: 'paymentLink',
				label: 'Payment link',
				icon: <CreditCard />,
				onAction: () => onDialog('paymentLink'),
			},
		{ id: 'duplicate', label: 'Duplicate', icon: <Copy />, onAction: duplicate },
		status !== 'cancelled' && {
			id: 'cancel',
			label: 'Cancel invoice',
			icon: <Ban />,
			isDangerous: true,
			onAction: () => onDialog('cancel'),
		},
		is('manager') && {
			id: 'delete',
			label: 'Delete',
			icon: <Trash2 />,
			isDangerous: true,
			onAction: () => onDialog('delete'),
		},
	]
	return (
		<>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			<Menu label="More" actions={actions.filter((action) => action !== false)}>
				<Button aria-label="More" icon={<Ellipsis />} />
			</Menu>
		</>
	)
}

/** Takes back what only the status says is paid; a payment that was recorded is reversed instead, beside it. */
function useMarkNotPaid({ id, status, sentAt, version, invoiceNumber }: Invoice) {
	const { data } = useInfiniteQuery(paymentsQuery(id))
	const { mutate, error, isPending } = useWrite('invoices.update')
	const isByStatus = data?.pages.some(({ rows }) =>
		rows.some((payment) => payment.source === 'status' && payment.status === 'succeeded'),
	)
	const markNotPaid = () => {
		if (isPending) return
		mutate([id, { status: sentAt === null ? 'draft' : 'sent' }, { ifMatch: version }], {
			onSuccess: () => toast(`${invoiceNumber} is not paid`),
		})
	}
	return { markNotPaid: status === 'paid' && isByStatus ? markNotPaid : undefined, error }
}

/** Makes a draft with the same client, lines and words, and opens it to be changed. */
function useDuplicate(invoice: Invoice) {
	const { mutate, error, isPending } = useWrite('invoices.create')
	const { navigate } = useRouter()
	const key = useIdempotencyKey()
	const duplicate = () => {
		if (isPending) return
		mutate([copyOf(invoice), key.options()], {
			onError: key.failed,
			onSuccess: ({ id, invoiceNumber }) => {
				key.renew()
				toast(`${invoiceNumber} is a copy of ${invoice.invoiceNumber}`)
				void navigate({ to: '/invoices/$id/edit', params: { id } })
			},
		})
	}
	return { duplicate, error }
}
