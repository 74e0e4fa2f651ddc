import type { Sync } from '@remit/sdk'
import { useRouter } from '@tanstack/react-router'
import { Ellipsis, ListRestart, Pause, Pencil, Play, Trash2 } from 'lucide-react'
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
import { isMoving } from './words.ts'

const Delete = onFirstUse(() => import('./delete-sync.tsx'), InDialog)

export function SyncMenu({ sync, onRun }: { sync: Sync; onRun: (mode: 'full') => void }) {
	const { may } = useSession()
	const { navigate } = useRouter()
	const [isDeleting, setDeleting] = useState(false)
	const pause = useWrite('syncs.pause')
	const resume = useWrite('syncs.resume')
	const { id, status } = sync
	const trouble = failureOf(pause) ?? failureOf(resume)
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
						onAction: () => void navigate({ to: '/syncs/$id/edit', params: { id } }),
					},
					status === 'paused'
						? {
								id: 'resume',
								label: 'Resume',
								icon: <Play />,
								onAction: () => resume.mutate([id], { onSuccess: () => toast('The sync goes on') }),
							}
						: {
								id: 'pause',
								label: 'Pause',
								icon: <Pause />,
								onAction: () => pause.mutate([id], { onSuccess: () => toast('The sync is paused') }),
							},
					{
						id: 'full',
						label: 'Read everything',
						icon: <ListRestart />,
						isDisabled: isMoving(sync.lastRun),
						onAction: () => onRun('full'),
					},
					...(may('admin')
						? [{ id: 'delete', label: 'Delete', icon: <Trash2 />, isDangerous: true, onAction: () => setDeleting(true) }]
						: []),
				]}
			>
				<Button aria-label="More" icon={<Ellipsis />} />
			</Menu>
			{isDeleting && <Delete sync={sync} onClose={() => setDeleting(false)} />}
		</>
	)
}
