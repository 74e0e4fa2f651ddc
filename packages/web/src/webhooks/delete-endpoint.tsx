import type { WebhookEndpoint } from '@remit/sdk'
import { useRouter } from '@tanstack/react-router'
import { failureOf } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import ConfirmDialog from '../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { toast } from '../ui/toast.ts'

export default function DeleteEndpoint({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
	const write = useWrite('webhooks.endpoints.delete')
	const { navigate } = useRouter()
	const trouble = failureOf(write)
	const remove = () =>
		write.mutate([endpoint.id, { ifMatch: endpoint.version }], {
			onSuccess: () => {
				toast('The endpoint was deleted')
				void navigate({ to: '/webhooks' })
			},
		})
	return (
		<ConfirmDialog
			title="Delete this endpoint?"
			action="Delete endpoint"
			isDangerous
			isOpen
			isPending={write.isPending}
			onConfirm={remove}
			onClose={onClose}
		>
			<p>{endpoint.url} gets nothing any more, and what waits for it is cancelled. Its deliveries can still be read.</p>
			{trouble && <ErrorPanel isSmall {...trouble} />}
		</ConfirmDialog>
	)
}
