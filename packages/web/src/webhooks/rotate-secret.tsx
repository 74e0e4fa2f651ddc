import { useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import ConfirmDialog from '../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Select } from '../ui/select.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const graces = [
	{ id: '0', label: 'Not at all: it stops at once' },
	{ id: '3600', label: '1 hour' },
	{ id: '86400', label: '1 day' },
	{ id: '604800', label: '7 days' },
]

export default function RotateSecret({ id, onClose }: { id: string; onClose: () => void }) {
	const [grace, setGrace] = useState('86400')
	const write = useWrite('webhooks.endpoints.rotateSecret')
	const trouble = failureOf(write)
	if (write.data) return <SecretDialog secret={write.data.secret} onClose={onClose} />
	return (
		<ConfirmDialog
			title="Rotate the secret?"
			action="Rotate secret"
			isOpen
			isPending={write.isPending}
			onConfirm={() => write.mutate([id, { graceSeconds: Number(grace) }])}
			onClose={onClose}
		>
			<p>The endpoint gets a new secret. For a while requests are signed with both, so that nothing is lost meanwhile.</p>
			<Select label="The old secret signs as well for" isRequired value={grace} choices={graces} onChange={setGrace} />
			{trouble && <ErrorPanel isSmall {...trouble} />}
		</ConfirmDialog>
	)
}
