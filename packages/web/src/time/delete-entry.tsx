import type { TimeEntry } from '@remit/sdk'
import { describe } from '../api/errors.ts'
import { useWrite } from '../api/query.ts'
import { showHours } from '../format/dates.ts'
import ConfirmDialog from '../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { toast } from '../ui/toast.ts'

interface DeleteEntryProps {
	readonly entry: TimeEntry
	readonly onClose: () => void
	readonly onDeleted: () => void
}

export default function DeleteEntry({ entry, onClose, onDeleted }: DeleteEntryProps) {
	const { mutate, isPending, error } = useWrite('timeEntries.delete')
	const name = entry.durationSeconds === null ? 'the running time' : `${showHours(entry.durationSeconds)} h`
	const remove = () =>
		mutate([entry.id], {
			onSuccess: () => {
				toast('The time was deleted')
				onDeleted()
			},
		})
	return (
		<ConfirmDialog
			title={`Delete ${name}?`}
			action={`Delete ${name}`}
			isDangerous
			isOpen
			isPending={isPending}
			onConfirm={remove}
			onClose={onClose}
		>
			<p>{`${entry.taskName ?? entry.description ?? 'The entry'} is gone for good, and no invoice will have it.`}</p>
			{error && <ErrorPanel isSmall {...describe(error)} />}
		</ConfirmDialog>
	)
}
