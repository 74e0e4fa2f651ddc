import type { User } from '@remit/sdk'
import { describe } from '../../api/errors.ts'
import { useWrite } from '../../api/query.ts'
import ConfirmDialog from '../../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { toast } from '../../ui/toast.ts'

export default function RemovePerson({ person: { id, name, version }, onClose }: { person: User; onClose: () => void }) {
	const { mutate, isPending, error } = useWrite('users.delete')
	const remove = () =>
		mutate([id, { ifMatch: version }], {
			onSuccess: () => {
				toast(`${name} was removed`)
				onClose()
			},
		})
	return (
		<ConfirmDialog
			title={`Remove ${name}?`}
			action={`Remove ${name}`}
			isDangerous
			isOpen
			{...{ isPending, onClose }}
			onConfirm={remove}
		>
			<p>
				They are signed out at once and cannot sign in again. Their name stays on what they did. API keys that they made keep
				working: revoke those that they know.
			</p>
			{error && <ErrorPanel isSmall {...describe(error)} />}
		</ConfirmDialog>
	)
}
