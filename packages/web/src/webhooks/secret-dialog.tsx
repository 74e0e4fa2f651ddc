import type { ReactNode } from 'react'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface SecretDialogProps {
	readonly secret: string
	readonly onClose: () => void
	readonly children?: ReactNode
}

/** A secret that no later answer shows: it stays open until the person says that it is kept. */
export const SecretDialog = ({ secret, onClose, children }: SecretDialogProps) => (
	<Dialog
		title="The secret of the endpoint"
		isOpen
		isKept
		onClose={onClose}
		actions={
			<Button look="primary" onPress={onClose}>
				I have saved it
			</Button>
		}
	>
		<Banner tone="warn">It is shown this once only.</Banner>
		<CodeBlock label="Secret" text={secret} />
		<p>Your endpoint checks the signature of each request with it (Standard Webhooks).</p>
		{children}
	</Dialog>
)
