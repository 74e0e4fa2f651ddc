import type { Invitation } from '@remit/sdk'
import { describe } from '../../api/errors.ts'
import { useWrite } from '../../api/query.ts'
import ConfirmDialog from '../../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { LinkShown } from './link-shown.tsx'

export default function Resend({ invitation: { id, email }, onClose }: { invitation: Invitation; onClose: () => void }) {
	const { mutate, isPending, error, data } = useWrite('invitations.resend')
	if (data) return <LinkShown link={data} email={email} onClose={onClose} />
	return (
		<ConfirmDialog
			title={`Invite ${email} again?`}
			action="Send again"
			isOpen
			{...{ isPending, onClose }}
			onConfirm={() => mutate([id])}
		>
			<p>They get a new link, for seven more days. The link before stops working.</p>
			{error && <ErrorPanel isSmall {...describe(error)} />}
		</ConfirmDialog>
	)
}
