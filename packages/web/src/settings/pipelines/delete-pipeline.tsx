import type { Pipeline } from '@remit/sdk'
import { useWrite } from '../../api/query.ts'
import { DeleteDialog } from '../../forms/delete-dialog.tsx'

export default function DeletePipeline({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
	return (
		<DeleteDialog
			name={pipeline.name}
			write={useWrite('pipelines.delete')}
			args={[pipeline.id, { ifMatch: pipeline.version }]}
			to="/settings/pipelines"
			onClose={onClose}
		>
			It is gone for good. One that has or had deals stays.
		</DeleteDialog>
	)
}
