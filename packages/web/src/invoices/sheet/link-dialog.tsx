import type { Invoice } from '@remit/sdk'
import { Check, Copy } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { describe } from '../../api/errors.ts'
import { useWrite } from '../../api/query.ts'
import { randomId } from '../../api/random-id.ts'
import { useSession } from '../../api/session.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.ts'
import './send-dialog.css'

interface LinkDialogProps {
	readonly invoice: Invoice
	readonly kind: 'clientLink' | 'paymentLink'
	readonly onClose: () => void
}

const words = {
	clientLink: ['Client link', 'Whoever has it sees the invoice without signing in, and can pay it if you take payments online.'],
	paymentLink: ['Payment link', 'It leads to the page where what is owed now is paid. When the amount changes it stops working.'],
} as const

/** Makes the link, or takes the one that there is, and copies it. */
export default function LinkDialog({ invoice, kind, onClose }: LinkDialogProps) {
	const making = useWrite(`invoices.${kind}.create`)
	const revoking = useWrite('invoices.clientLink.delete')
	const { publishDrafts } = useSession().organization
	const [isCopied, setCopied] = useState(false)
	const key = useRef(randomId())
	const { mutate, data, error } = making
	// When the browser forbids it, it is copied by hand: the field has the whole of it.
	const copy = async (url: string) => setCopied(await copyText(url))
	// biome-ignore lint/correctness/useExhaustiveDependencies: it is made once, when the dialog opens.
	useEffect(() => {
		mutate([invoice.id, { idempotencyKey: key.current }], { onSuccess: ({ url }) => void copy(url) })
	}, [])
	const revoke = () =>
		revoking.mutate([invoice.id], {
			onSuccess: () => {
				toast('The client link was revoked')
				onClose()
			},
		})
	const [title, text] = words[kind]
	const trouble = error ?? revoking.error
	return (
		<Dialog
			title={title}
			isOpen
			onClose={onClose}
			actions={
				<>
					{kind === 'clientLink' && data && (
						<Button look="danger" isPending={revoking.isPending} onPress={revoke}>
							Revoke
						</Button>
					)}
					<Button onPress={onClose}>Close</Button>
				</>
			}
		>
			<p>{text}</p>
			{kind === 'clientLink' && invoice.status === 'draft' && !publishDrafts && (
				<Banner>It works once the invoice is sent: your settings keep drafts from clients.</Banner>
			)}
			{trouble && <ErrorPanel isSmall {...describe(trouble)} />}
			{!data && !error && <Skeleton rows={1} />}
			{data && (
				<div className="link-box">
					<Field
						label="Link"
						isReadOnly
						autoFocus
						value={data.url}
						onFocus={(event) => (event.target as HTMLInputElement).select()}
					/>
					<Button icon={isCopied ? <Check /> : <Copy />} onPress={() => void copy(data.url)}>
						{isCopied ? 'Copied' : 'Copy'}
					</Button>
				</div>
			)}
		</Dialog>
	)
}
