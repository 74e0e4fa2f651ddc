import type { ApiKey } from '@remit/sdk'
import { describe } from '../../api/errors.ts'
import { useWrite } from '../../api/query.ts'
import { showAgo } from '../../format/dates.ts'
import ConfirmDialog from '../../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { toast } from '../../ui/toast.ts'

export default function RevokeKey({ apiKey: { id, name, lastUsedAt }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
	const { mutate, isPending, error } = useWrite('apiKeys.delete')
	const revoke = () =>
		mutate([id], {
			onSuccess: () => {
				toast(`${name} was revoked`)
				onClose()
			},
		})
	return (
		<ConfirmDialog
			title={`Revoke ${name}?`}
			action={`Revoke ${name}`}
			isDangerous
			isOpen
			{...{ isPending, onClose }}
			onConfirm={revoke}
		>
			<p>
				{lastUsedAt === null
					? 'It was never used.'
					: `It was last used ${showAgo(lastUsedAt, Date.now())}: what uses it stops working at once.`}{' '}
				This cannot be undone.
			</p>
			{error && <ErrorPanel isSmall {...describe(error)} />}
		</ConfirmDialog>
	)
}
