import type { ExpandedInvoice, InvoiceWarning } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { Paperclip } from 'lucide-react'
import { useState } from 'react'
import { describe, fieldErrors } from '../../api/errors.ts'
import { useIdempotencyKey } from '../../api/idempotency-key.ts'
import { read, useWrite } from '../../api/query.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { CheckBox } from '../../ui/check-box.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'
import { TextArea } from '../../ui/text-area.tsx'
import { toast } from '../../ui/toast.ts'
import './send-dialog.css'

interface SendDialogProps {
	readonly invoice: ExpandedInvoice
	readonly onClose: () => void
}

/** What the invoice would be sent without: the server sends it nevertheless. */
const lacks = (invoice: ExpandedInvoice): string[] =>
	[
		!invoice.billTo && !invoice.company && 'It has no client.',
		invoice.lineItems.length === 0 && 'It has no lines.',
		invoice.dueDate === null && 'It has no due date: it never becomes overdue.',
	].filter((lack) => lack !== false)

const addresses = (text: string) => text.split(/[,;\s]+/).filter(Boolean)

export default function SendDialog({ invoice, onClose }: SendDialogProps) {
	const [to, setTo] = useState((invoice.billTo ? invoice.billTo.email : invoice.company?.billingEmail) ?? '')
	const [cc, setCc] = useState('')
	const [subject, setSubject] = useState('')
	const [message, setMessage] = useState('')
	const [hasLink, setHasLink] = useState(true)
	const [again, setAgain] = useState(false)
	const key = useIdempotencyKey()
	const [warnings, setWarnings] = useState<readonly InvoiceWarning[]>()
	const { data: status, error: statusError } = useQuery(read('invoices.sendStatus', invoice.id))
	const { mutate, isPending, error } = useWrite('invoices.send')
	const wrong = new Map(fieldErrors(error))
	const inField = (name: string) => [...wrong].find(([field]) => field.split('.')[0] === name)?.[1]
	const isKnown = ['to', 'cc', 'subject', 'message'].some((name) => inField(name) !== undefined)
	const isPossible = status?.configured !== false && invoice.status !== 'cancelled'
	const send = () => {
		if (isPending || !isPossible || to.trim() === '') return
		const body = {
			to: to.trim(),
			...(cc.trim() && { cc: addresses(cc) }),
			...(subject.trim() && { subject: subject.trim() }),
			...(message.trim() && { message }),
			...(!hasLink && { link: false }),
			...(again && { again }),
		}
		mutate([invoice.id, body, key.options()], {
			onSuccess: ({ warnings: found = [] }) => {
				const late = found.filter(({ code }) => code === 'changed_while_sending' || code === 'copy_refused')
				if (late.length > 0) return setWarnings(late)
				toast(`The invoice was sent to ${to.trim()}`)
				onClose()
			},
			onError: key.failed,
		})
	}
	if (warnings)
		return (
			<Dialog
				title={`${invoice.invoiceNumber} was sent`}
				isOpen
				onClose={onClose}
				actions={<Button onPress={onClose}>Close</Button>}
			>
				{warnings.map(({ detail }) => (
					<Banner key={detail}>{detail}</Banner>
				))}
			</Dialog>
		)
	const trouble = error && !isKnown ? describe(error) : statusError ? describe(statusError) : undefined
	return (
		<Dialog
			title={`Send ${invoice.invoiceNumber}`}
			isOpen
			onClose={onClose}
			actions={
				<>
					<Button onPress={onClose}>Cancel</Button>
					<Button
						look="primary"
						isPending={isPending}
						isDisabled={!isPossible || to.trim() === '' || (status?.perhapsSent && !again)}
						onPress={send}
					>
						{`Send ${invoice.invoiceNumber}`}
					</Button>
				</>
			}
		>
			{status && !status.configured && (
				<Banner tone="bad">{`The server cannot send e-mail: ${status.missing.join(', ')} is not set. Copy the client link instead.`}</Banner>
			)}
			{invoice.status === 'cancelled' && <Banner tone="bad">A cancelled invoice cannot be sent.</Banner>}
			{lacks(invoice).map((lack) => (
				<Banner key={lack}>{lack}</Banner>
			))}
			{status?.warnings?.map(({ pointer, detail }) => (
				<Banner key={pointer}>{detail}</Banner>
			))}
			{trouble && <ErrorPanel isSmall title={trouble.title} advice={trouble.advice} requestId={trouble.requestId} />}
			<Field label="To" type="email" isRequired autoFocus value={to} onChange={setTo} error={inField('to')} name="to" />
			<Field label="Copy to" value={cc} onChange={setCc} error={inField('cc')} hint="Several with commas between" />
			<Field
				label="Subject"
				value={subject}
				onChange={setSubject}
				error={inField('subject')}
				placeholder="The number and your name"
			/>
			<TextArea
				label="Message"
				value={message}
				onChange={setMessage}
				error={inField('message')}
				hint={hasLink ? 'It stands above the amount and the button to view the invoice.' : 'It stands above the amount.'}
			/>
			<CheckBox isSelected={hasLink} onChange={setHasLink}>
				With a link to view it, and to pay it if you take payments online
			</CheckBox>
			<p className="send-attached">
				<Paperclip size={16} aria-hidden="true" /> The PDF is attached.
			</p>
			{status?.perhapsSent && (
				<CheckBox isSelected={again} onChange={setAgain}>
					An earlier e-mail was perhaps sent. Send it again
				</CheckBox>
			)}
		</Dialog>
	)
}
