import type { Payment } from '@remit/sdk'
import { useState } from 'react'
import { describe, fieldErrors } from '../../api/errors.ts'
import { useWrite } from '../../api/query.ts'
import ConfirmDialog from '../../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.ts'

interface ReverseDialogProps {
	readonly payment: Payment
	/** As its organization writes it. */
	readonly amount: string
	readonly onClose: () => void
}

/** Asks before a payment is taken back that was recorded by mistake, or that the bank has returned. */
export default function ReverseDialog({ payment, amount, onClose }: ReverseDialogProps) {
	const [reason, setReason] = useState('')
	const reversing = useWrite('payments.reverse')
	const reverse = () =>
		reversing.mutate([payment.id, reason.trim() ? { reason: reason.trim() } : {}], {
			onSuccess: () => {
				toast(`The payment of ${amount} was reversed`)
				onClose()
			},
		})
	const wrong = new Map(fieldErrors(reversing.error))
	return (
		<ConfirmDialog
			title={`Reverse the payment of ${amount}?`}
			action="Reverse the payment"
			isDangerous
			isOpen
			isPending={reversing.isPending}
			onConfirm={reverse}
			onClose={onClose}
		>
			<p>What it paid is owed again, on each of its invoices. It stays in the list as reversed; no money moves.</p>
			<Field label="Why" placeholder="Recorded twice" value={reason} onChange={setReason} error={wrong.get('reason')} />
			{reversing.error && wrong.size === 0 && <ErrorPanel isSmall {...describe(reversing.error)} />}
		</ConfirmDialog>
	)
}
