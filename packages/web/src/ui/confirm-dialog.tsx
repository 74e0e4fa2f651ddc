import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface ConfirmDialogProps {
	readonly title: string
	/** What follows from it. */
	readonly children: ReactNode
	/** In the words of the title, such as `Delete INV-0042`. */
	readonly action: string
	readonly isDangerous?: boolean
	readonly isPending?: boolean
	readonly cancelText?: string
	readonly isOpen: boolean
	readonly onConfirm: () => void
	readonly onClose: () => void
}

/** Asks before what cannot be undone. Enter does not do it: Cancel has the focus. */
const ConfirmDialog = (props: ConfirmDialogProps) => (
	<Dialog
		title={props.title}
		isOpen={props.isOpen}
		onClose={props.onClose}
		role="alertdialog"
		actions={
			<>
				<Button autoFocus onPress={props.onClose}>
					{props.cancelText ?? 'Cancel'}
				</Button>
				<Button look={props.isDangerous ? 'danger' : 'primary'} isPending={props.isPending} onPress={props.onConfirm}>
					{props.action}
				</Button>
			</>
		}
	>
		{props.children}
	</Dialog>
)

export default ConfirmDialog
