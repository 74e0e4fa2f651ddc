import type { WebhookEndpoint } from '@remit/sdk'
import { useRouter } from '@tanstack/react-router'
import { Ellipsis, KeyRound, Pause, Pencil, Play, RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Menu } from '../ui/menu.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { InDialog } from '../ui/places.tsx'
import { toast } from '../ui/toast.ts'

const Delete = onFirstUse(() => import('./delete-endpoint.tsx'), InDialog)
const Rotate = onFirstUse(() => import('./rotate-secret.tsx'), InDialog)
const Redeliver = onFirstUse(() => import('./redeliver-all.tsx'), InDialog)

/** What can be done with an endpoint besides a test. */
export function EndpointMenu({ endpoint }: { endpoint: WebhookEndpoint }) {
	const { may } = useSession()
	const { navigate } = useRouter()
	const [open, setOpen] = useState<'delete' | 'rotate' | 'redeliver'>()
	const update = useWrite('webhooks.endpoints.update')
	const { id, status, version } = endpoint
	const close = () => setOpen(undefined)
	const isActive = status === 'active'
	const toggle = () =>
		update.mutate([id, { status: isActive ? 'paused' : 'active' }, { ifMatch: version }], {
			onSuccess: () => toast(isActive ? 'The endpoint is paused' : 'The endpoint gets deliveries again'),
		})
	const trouble = failureOf(update)
	return (
		<>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<Menu
				label="More"
				actions={[
					{
						id: 'edit',
						label: 'Edit',
						icon: <Pencil />,
						onAction: () => void navigate({ to: '/webhooks/endpoints/$id/edit', params: { id } }),
					},
					{ id: 'pause', label: isActive ? 'Pause' : 'Resume', icon: isActive ? <Pause /> : <Play />, onAction: toggle },
					{ id: 'redeliver', label: 'Redeliver what failed', icon: <RotateCw />, onAction: () => setOpen('redeliver') },
					...(may('admin')
						? [
								{ id: 'rotate', label: 'Rotate the secret', icon: <KeyRound />, onAction: () => setOpen('rotate') },
								{ id: 'delete', label: 'Delete', icon: <Trash2 />, isDangerous: true, onAction: () => setOpen('delete') },
							]
						: []),
				]}
			>
				<Button aria-label="More" icon={<Ellipsis />} />
			</Menu>

			{open === 'delete' && <Delete endpoint={endpoint} onClose={close} />}
			{open === 'rotate' && <Rotate id={id} onClose={close} />}
			{open === 'redeliver' && <Redeliver id={id} onClose={close} />}
		</>
	)
}
