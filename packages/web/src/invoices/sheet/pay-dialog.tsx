import type { Invoice } from '@remit/sdk'
import { useState } from 'react'
import { describe, fieldErrors } from '../../api/errors.ts'
import { useIdempotencyKey } from '../../api/idempotency-key.ts'
import { useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { editAmount, parseAmount, showAmount } from '../../format/amount.ts'
import { dayIn } from '../../format/dates.ts'
import { Button } from '../../ui/button.tsx'
import { DateField } from '../../ui/date-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'
import { MoneyField } from '../../ui/money-field.tsx'
import { toast } from '../../ui/toast.ts'

/** Records money that came outside of a payment link: all that is owed, or a part of it. */
export default function PayDialog({ invoice, onClose }: { invoice: Invoice; onClose: () => void }) {
	const { locale, timeZone } = useSession()
	const { currency, amountDueCents: due, invoiceNumber } = invoice
	const [typed, setAmount] = useState<number | string | null>(due)
	const amount = typeof typed === 'number' ? typed : null
	const [paidAt, setPaidAt] = useState(() => dayIn(timeZone, Date.now()))
	const [method, setMethod] = useState('')
	const [reference, setReference] = useState('')
	const key = useIdempotencyKey()
	const recording = useWrite('payments.create')
	const marking = useWrite('invoices.update')
	const error = recording.error ?? marking.error
	const wrong = new Map(fieldErrors(error))
	const isPart = amount !== null && amount < due
	const difference = amount === null ? 0 : amount - due
	const sum = showAmount(Math.abs(difference), currency, locale)
	const hint = difference > 0 ? `${sum} more than is owed.` : isPart && amount > 0 ? `${sum} stays owed.` : undefined
	const done = {
		onSuccess: () => {
			toast(isPart ? `A part of ${invoiceNumber} is paid` : `${invoiceNumber} is paid`)
			onClose()
		},
		onError: key.failed,
	}
	const words = { ...(method.trim() && { method: method.trim() }), ...(reference.trim() && { reference: reference.trim() }) }
	const pay = () => {
		// What owes nothing has no payment: its status says it all.
		if (due <= 0) marking.mutate([invoice.id, { status: 'paid', paidDate: paidAt }, { ifMatch: invoice.version }], done)
		else if (amount !== null && amount > 0)
			recording.mutate([{ invoiceId: invoice.id, amountCents: amount, paidAt, ...words }, key.options()], done)
	}
	const isPending = recording.isPending || marking.isPending
	const trouble = error && wrong.size === 0 ? describe(error) : undefined
	return (
		<Dialog
			title={`Mark ${invoiceNumber} paid`}
			isOpen
			onClose={onClose}
			actions={
				<>
					<Button onPress={onClose}>Cancel</Button>
					<Button
						look="primary"
						isPending={isPending}
						isDisabled={paidAt === '' || (due > 0 && (amount === null || amount <= 0))}
						onPress={pay}
					>
						{isPart ? 'Record part payment' : 'Mark paid'}
					</Button>
				</>
			}
		>
			{trouble && <ErrorPanel isSmall title={trouble.title} advice={trouble.advice} requestId={trouble.requestId} />}
			{due > 0 && (
				<MoneyField
					label="Amount"
					isRequired
					autoFocus
					value={typed}
					onChange={setAmount}
					currency={currency}
					parse={(text) => parseAmount(text, currency, locale)}
					format={(minor) => editAmount(minor, currency, locale)}
					error={wrong.get('amountCents')}
					hint={hint}
				/>
			)}
			<DateField label="Paid on" isRequired value={paidAt} onChange={setPaidAt} error={wrong.get('paidAt')} />
			{due > 0 && (
				<>
					<Field label="How" placeholder="Bank transfer" value={method} onChange={setMethod} error={wrong.get('method')} />
					<Field label="Reference" value={reference} onChange={setReference} error={wrong.get('reference')} />
				</>
			)}
		</Dialog>
	)
}
