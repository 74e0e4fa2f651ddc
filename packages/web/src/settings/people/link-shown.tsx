import type { InvitationLink } from '@remit/sdk'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'

interface LinkShownProps {
	readonly link: InvitationLink
	readonly email: string
	readonly onClose: () => void
}

/** The link of an invitation, which is shown once: a new one can always be made. */
export const LinkShown = ({ link: { url, emailed }, email, onClose }: LinkShownProps) => (
	<Dialog
		title={`${email} is invited`}
		isOpen
		onClose={onClose}
		actions={
			<Button look="primary" onPress={onClose}>
				Done
			</Button>
		}
	>
		<p>
			{emailed ? 'The link is on its way by e-mail.' : 'This server sends no e-mail to them: pass the link on yourself.'} It works
			once, for seven days. Whoever has it can join.
		</p>
		<CopyField label="Link" text={url} />
	</Dialog>
)
