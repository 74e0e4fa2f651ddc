import { useBlocker } from '@tanstack/react-router'
import { isStartingAfresh } from '../api/session-over.ts'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { InDialog } from '../ui/places.tsx'

const ConfirmDialog = onFirstUse(() => import('../ui/confirm-dialog.tsx'), InDialog)

interface LeaveGuardProps {
	readonly isDirty: boolean
	/** Set before the form itself leads on. */
	readonly isSaved: { readonly current: boolean }
	readonly onDiscard: () => void
}

/** Asks before a link, the way back or closing the tab throws away what is not saved. */
export function LeaveGuard({ isDirty, isSaved, onDiscard }: LeaveGuardProps) {
	const isGuarded = () => isDirty && !isSaved.current && !isStartingAfresh()
	const { status, proceed, reset } = useBlocker({
		shouldBlockFn: isGuarded,
		enableBeforeUnload: isGuarded,
		withResolver: true,
	})
	if (status !== 'blocked') return null
	return (
		<ConfirmDialog
			title="Leave without saving?"
			action="Discard changes"
			cancelText="Keep editing"
			isDangerous
			isOpen
			onClose={reset}
			onConfirm={() => {
				onDiscard()
				proceed()
			}}
		>
			What you changed here is not saved yet.
		</ConfirmDialog>
	)
}
