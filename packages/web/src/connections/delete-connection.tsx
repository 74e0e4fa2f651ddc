import type { Connection } from '@remit/sdk'
import { useWrite } from '../api/query.ts'
import { DeleteDialog } from '../forms/delete-dialog.tsx'

export default function DeleteConnection({ connection, onClose }: { connection: Connection; onClose: () => void }) {
	return (
		<DeleteDialog
			name={connection.name}
			write={useWrite('connections.delete')}
			args={[connection.id]}
			to="/connections"
			onClose={onClose}
		>
			Its credentials are gone for good, and its syncs cannot run any more. What they wrote stays.
		</DeleteDialog>
	)
}
