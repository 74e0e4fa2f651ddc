import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { failureOf } from '../api/pages.ts'
import ConfirmDialog from '../ui/confirm-dialog.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { toast } from '../ui/toast.ts'

/** A write of `useWrite`, as far as the dialog uses it. */
interface Deletion<Args> {
	readonly mutate: (args: Args, options: { onSuccess: () => void }) => void
	readonly isPending: boolean
	readonly error: unknown
}

interface DeleteDialogProps<Args> {
	readonly name: string
	readonly write: Deletion<Args>
	readonly args: Args
	/** Where the way goes on. */
	readonly to: string
	readonly onClose: () => void
	/** What follows from it. */
	readonly children: ReactNode
}

/** Asks before a record is deleted from its page, and leads to the list of its kind. */
export function DeleteDialog<Args>({ name, write, args, to, onClose, children }: DeleteDialogProps<Args>) {
	const { navigate } = useRouter()
	const failure = failureOf({ error: write.error })
	const remove = () =>
		write.mutate(args, {
			onSuccess: () => {
				toast(`${name} was deleted`)
				void navigate({ to })
			},
		})
	return (
		<ConfirmDialog
			title={`Delete ${name}?`}
			action={`Delete ${name}`}
			isDangerous
			isOpen
			isPending={write.isPending}
			onConfirm={remove}
			onClose={onClose}
		>
			<p>{children}</p>
			{failure && <ErrorPanel isSmall {...failure} />}
		</ConfirmDialog>
	)
}
