import { failureOf } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { count } from '../format/code.ts'
import ConfirmDialog from '../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { toast } from '../ui/toast.ts'

export default function RedeliverAll({ id, onClose }: { id: string; onClose: () => void }) {
	const write = useWrite('webhooks.endpoints.redeliver')
	const trouble = failureOf(write)
	const again = () =>
		write.mutate([id], {
			onSuccess: (made) => {
				toast(made.count === 0 ? 'Nothing has failed' : `${count(made.count, 'delivery', 'deliveries')} made again`)
				onClose()
			},
		})
	return (
		<ConfirmDialog
			title="Redeliver what failed?"
			action="Redeliver"
			isOpen
			isPending={write.isPending}
			onConfirm={again}
			onClose={onClose}
		>
			<p>Every delivery that failed, was skipped or waits for another attempt goes to the endpoint again, oldest first.</p>
			{trouble && <ErrorPanel isSmall {...trouble} />}
		</ConfirmDialog>
	)
}
