import type { Invoice } from '@remit/sdk'
import { useRouter } from '@tanstack/react-router'
import { describe } from '../../api/errors.ts'
import { useWrite } from '../../api/query.ts'
import ConfirmDialog from '../../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { toast } from '../../ui/toast.ts'

interface EndDialogProps {
	readonly invoice: Invoice
	readonly action: 'cancel' | 'delete'
	readonly onClose: () => void
}

/** Asks before an invoice is cancelled or deleted. */
export default function EndDialog({ invoice, action, onClose }: EndDialogProps) {
	const { id, invoiceNumber, version } = invoice
	const cancelling = useWrite('invoices.update')
	const deleting = useWrite('invoices.delete')
	const { navigate } = useRouter()
	const error = cancelling.error ?? deleting.error
	const cancel = () =>
		cancelling.mutate([id, { status: 'cancelled' }, { ifMatch: version }], {
			onSuccess: () => {
				toast(`${invoiceNumber} was cancelled`)
				onClose()
			},
		})
	const remove = () =>
		deleting.mutate([id, { ifMatch: version }], {
			onSuccess: () => {
				toast(`${invoiceNumber} was deleted`)
				void navigate({ to: '/invoices' })
			},
		})
	const verb = action === 'cancel' ? 'Cancel' : 'Delete'
	return (
		<ConfirmDialog
			title={`${verb} ${invoiceNumber}?`}
			action={`${verb} ${invoiceNumber}`}
			cancelText={action === 'cancel' ? 'Keep it' : 'Cancel'}
			isDangerous
			isOpen
			isPending={cancelling.isPending || deleting.isPending}
			onConfirm={action === 'cancel' ? cancel : remove}
			onClose={onClose}
		>
			<p>
				{action === 'cancel'
					? 'Nothing is owed on it any more, its payment link stops working, and its time entries can be invoiced again. Its number stays taken.'
					: 'It is gone for good, its client link stops working, and its number is never used again. Its time entries can be invoiced again.'}
			</p>
			{error && <ErrorPanel isSmall {...describe(error)} />}
		</ConfirmDialog>
	)
}
