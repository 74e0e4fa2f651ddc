import type { Sync } from '@remit/sdk'
import { useWrite } from '../api/query.ts'
import { DeleteDialog } from '../forms/delete-dialog.tsx'

export default function DeleteSync({ sync, onClose }: { sync: Sync; onClose: () => void }) {
	return (
		<DeleteDialog name={sync.name} write={useWrite('syncs.delete')} args={[sync.id]} to="/syncs" onClose={onClose}>
			It runs no more, and a run that is under way ends. Records stay on both sides.
		</DeleteDialog>
	)
}
