import type { Mapping } from '@remit/sdk'
import { useWrite } from '../api/query.ts'
import { DeleteDialog } from '../forms/delete-dialog.tsx'

export default function DeleteMapping({ mapping, onClose }: { mapping: Mapping; onClose: () => void }) {
	return (
		<DeleteDialog name={mapping.name} write={useWrite('mappings.delete')} args={[mapping.id]} to="/mappings" onClose={onClose}>
			It can no longer be read or used. One that a sync uses stays.
		</DeleteDialog>
	)
}
