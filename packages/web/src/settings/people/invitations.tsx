import type { Invitation, User } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { describe } from '../../api/errors.ts'
import { list, useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { showAgo } from '../../format/dates.ts'
import { words } from '../../format/names.ts'
import { usePeople } from '../../forms/use-people.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { toast } from '../../ui/toast.ts'
import type { Open } from './page.tsx'
import { isAtLeast } from './roles.ts'
import '../sessions.css'

/** Who has not joined yet. */
export function Invitations({ onOpen }: { onOpen: (open: Open) => void }) {
	const { data, error } = useInfiniteQuery(list('invitations.list', { limit: 100 }))
	const takeBack = useWrite('invitations.delete')
	const invitations = data?.pages.flatMap(({ rows }) => rows) ?? []
	const people = usePeople(invitations.map(({ createdBy }) => createdBy?.id))
	const trouble = error ?? takeBack.error
	if (invitations.length === 0) return trouble ? <ErrorPanel isSmall {...describe(trouble)} /> : null
	const remove = ({ id, email }: Invitation) =>
		takeBack.mutate([id], { onSuccess: () => toast(`The invitation of ${email} was taken back`) })
	return (
		<Card title="Invited">
			{trouble && <ErrorPanel isSmall {...describe(trouble)} />}
			<ul className="sessions">
				{invitations.map((invitation) => (
					<Row
						key={invitation.id}
						invitation={invitation}
						inviter={people.get(invitation.createdBy?.id ?? '')}
						onOpen={onOpen}
						onTakeBack={() => remove(invitation)}
					/>
				))}
			</ul>
		</Card>
	)
}

interface RowProps {
	readonly invitation: Invitation
	readonly inviter: User | undefined
	readonly onOpen: (open: Open) => void
	readonly onTakeBack: () => void
}

function Row({ invitation, inviter, onOpen, onTakeBack }: RowProps) {
	const { is } = useSession()
	const { email, role, expiresAt } = invitation
	const now = Date.now()
	const isExpired = expiresAt <= now
	const hasEnded = inviter !== undefined && (inviter.removedAt !== null || !isAtLeast(inviter.role, role))
	const ending = hasEnded
		? `ended, as ${inviter.name} may no longer invite`
		: `${isExpired ? 'expired' : 'expires'} ${showAgo(expiresAt, now)}`
	return (
		<li>
			<div>
				<div>
					{email} {(isExpired || hasEnded) && <Badge tone="warn">{hasEnded ? 'Ended' : 'Expired'}</Badge>}
				</div>
				<div className="sessions-none">
					{words(role)} · {ending}
				</div>
			</div>
			{is('admin') && (
				<div className="page-actions">
					<Button isSmall aria-label={`Send again: ${email}`} onPress={() => onOpen({ dialog: 'resend', invitation })}>
						Send again
					</Button>
					<Button isSmall look="danger" aria-label={`Take back: ${email}`} onPress={onTakeBack}>
						Take back
					</Button>
				</div>
			)}
		</li>
	)
}
