import type { Connection } from '@remit/sdk'
import { Ellipsis, Power, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Menu } from '../ui/menu.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { InDialog } from '../ui/places.tsx'

const Delete = onFirstUse(() => import('./delete-connection.tsx'), InDialog)

export function ConnectionMenu({ connection }: { connection: Connection }) {
	const [isDeleting, setDeleting] = useState(false)
	const write = useWrite('connections.update')
	const isOff = connection.status === 'disabled'
	const trouble = failureOf(write)
	return (
		<>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<Menu
				label="More"
				actions={[
					{
						id: 'off',
						label: isOff ? 'Turn on' : 'Turn off',
						icon: <Power />,
						onAction: () =>
							write.mutate([connection.id, { status: isOff ? 'active' : 'disabled' }, { ifMatch: connection.version }]),
					},
					{ id: 'delete', label: 'Delete', icon: <Trash2 />, isDangerous: true, onAction: () => setDeleting(true) },
				]}
			>
				<Button aria-label="More" icon={<Ellipsis />} />
			</Menu>
			{isDeleting && <Delete connection={connection} onClose={() => setDeleting(false)} />}
		</>
	)
}
