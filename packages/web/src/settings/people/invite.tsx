import type { InvitationLink, UserRole } from '@remit/sdk'
import { useState } from 'react'
import { useWrite } from '../../api/query.ts'
import { usePlainForm } from '../../forms/use-plain-form.ts'
import { InvitationCreate } from '../../generated/fields.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'
import { NativeSelect } from '../../ui/native-select.tsx'
import { LinkShown } from './link-shown.tsx'
import { roles } from './roles.ts'
import '../../forms/plain-form.css'

export default function Invite({ onClose }: { onClose: () => void }) {
	const [link, setLink] = useState<InvitationLink>()
	const { mutateAsync } = useWrite('invitations.create')
	const form = usePlainForm({
		values: { email: '', role: 'member' },
		rules: { email: InvitationCreate.email },
		send: async ({ email, role }) => setLink(await mutateAsync([{ email, role: role as UserRole }])),
	})
	if (link) return <LinkShown link={link} email={form.values.email} onClose={onClose} />
	const { value: role, onChange } = form.bind('role')
	return (
		<Dialog
			title="Invite a person"
			isOpen
			onClose={onClose}
			actions={
				<>
					<Button onPress={onClose}>Cancel</Button>
					<Button type="submit" form="invite" look="primary" isPending={form.isPending}>
						Invite
					</Button>
				</>
			}
		>
			<form id="invite" className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				<Field {...form.bind('email')} label="E-mail" type="email" autoComplete="off" autoFocus />
				<NativeSelect
					label="Role"
					choices={roles}
					value={role}
					onChange={onChange}
					hint={roles.find(({ id }) => id === role)?.hint}
				/>
			</form>
		</Dialog>
	)
}
