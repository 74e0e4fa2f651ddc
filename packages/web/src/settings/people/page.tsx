import type { Invitation, User } from '@remit/sdk'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useSession } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { InDialog } from '../../ui/places.tsx'
import { SettingsPage } from '../settings-page.tsx'
import { Invitations } from './invitations.tsx'
import { People } from './people.tsx'

const Invite = onFirstUse(() => import('./invite.tsx'), InDialog)
const InvitationShown = onFirstUse(() => import('./resend.tsx'), InDialog)
const RemovePerson = onFirstUse(() => import('./remove-person.tsx'), InDialog)
const PersonSessions = onFirstUse(() => import('./person-sessions.tsx'), InDialog)

export type Open =
	| { readonly dialog: 'invite' }
	| { readonly dialog: 'resend'; readonly invitation: Invitation }
	| { readonly dialog: 'remove' | 'sessions'; readonly person: User }

export default function PeoplePage() {
	const { is } = useSession()
	const [open, setOpen] = useState<Open>()
	const onClose = () => setOpen(undefined)
	const invite = is('admin') && (
		<Button look="primary" icon={<UserPlus />} data-key="new" onPress={() => setOpen({ dialog: 'invite' })}>
			Invite
		</Button>
	)
	return (
		<SettingsPage title="People" actions={invite}>
			<People onOpen={setOpen} />
			<Invitations onOpen={setOpen} />

			{open?.dialog === 'invite' && <Invite onClose={onClose} />}
			{open?.dialog === 'resend' && <InvitationShown invitation={open.invitation} onClose={onClose} />}
			{open?.dialog === 'remove' && <RemovePerson person={open.person} onClose={onClose} />}
			{open?.dialog === 'sessions' && <PersonSessions person={open.person} onClose={onClose} />}
		</SettingsPage>
	)
}
