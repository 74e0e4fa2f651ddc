import type { User } from '@remit/sdk'
import { Dialog } from '../../ui/dialog.tsx'
import { Sessions } from '../sessions.tsx'

export default function PersonSessions({ person: { id, name }, onClose }: { person: User; onClose: () => void }) {
	return (
		<Dialog title={`Where ${name} is signed in`} isOpen onClose={onClose}>
			<Sessions userId={id} />
		</Dialog>
	)
}
