import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Heading } from 'react-aria-components/Heading'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Button } from './button.tsx'
import './dialog.css'

export interface DialogProps {
	readonly title: string
	readonly children: ReactNode
	/** The buttons, the most important one last. */
	readonly actions?: ReactNode
	readonly isOpen: boolean
	readonly onClose: () => void
	readonly width?: 'narrow' | 'wide'
	/** Whether Escape and a press beside it leave it open, as where something would be lost. */
	readonly isKept?: boolean
	readonly role?: 'dialog' | 'alertdialog'
}

/** On a phone it is a sheet. Give the first field `autoFocus`, else the dialog has the focus itself. */
export function Dialog({ title, children, actions, isOpen, onClose, width = 'narrow', isKept = false, role }: DialogProps) {
	return (
		<ModalOverlay
			isOpen={isOpen}
			onOpenChange={(open) => open || onClose()}
			isDismissable={!isKept}
			isKeyboardDismissDisabled={isKept}
			className="scrim"
		>
			<Modal className={`modal ${width}`}>
				<AriaDialog className="dialog" role={role}>
					<header className="dialog-head">
						<Heading slot="title">{title}</Heading>
						{!isKept && <Button look="quiet" isSmall aria-label="Close" icon={<X />} onPress={onClose} />}
					</header>
					<div className="dialog-body">{children}</div>
					{actions && <footer className="dialog-actions">{actions}</footer>}
				</AriaDialog>
			</Modal>
		</ModalOverlay>
	)
}
