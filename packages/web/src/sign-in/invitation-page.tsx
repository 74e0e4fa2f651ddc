import type { InvitationDetails } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { describe, isNotFound } from '../api/errors.ts'
import { call, read } from '../api/query.ts'
import { enter } from '../api/session.ts'
import { usePlainForm } from '../forms/use-plain-form.ts'
import { InvitationAccept } from '../generated/fields.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { PasswordField } from '../ui/password-field.tsx'
import { EntryCard } from './entry-card.tsx'
import { goIn } from './go-in.ts'
import '../forms/plain-form.css'

const tokenPattern = /^[\w-]{20,100}$/

export default function InvitationPage() {
	const [token] = useState(() => location.hash.slice(1))
	const isWhole = tokenPattern.test(token)
	const { data, error } = useQuery({
		...read('invitations.show', { token }),
		enabled: isWhole,
		staleTime: Number.POSITIVE_INFINITY,
	})
	if (!isWhole)
		return (
			<EntryCard
				title="The link is not complete"
				note="Open the whole link of the invitation."
				below={<Link to="/sign-in">Sign in</Link>}
			/>
		)
	if (isNotFound(error))
		return (
			<EntryCard
				title="This invitation no longer works"
				note="It has expired, was taken back, or was used. Ask for a new one."
				below={<Link to="/sign-in">Sign in</Link>}
			/>
		)
	if (error)
		return (
			<EntryCard title="Your invitation">
				<ErrorPanel {...describe(error)} />
			</EntryCard>
		)
	if (!data) return <EntryCard title="Your invitation" />
	return <InvitationForm token={token} invitation={data} />
}

function InvitationForm({ token, invitation }: { token: string; invitation: InvitationDetails }) {
	const { name, password } = InvitationAccept
	const form = usePlainForm({
		values: { name: '', password: '' },
		rules: { name, password },
		send: async (values) => {
			goIn(await enter(call('invitations.accept', { token, ...values })))
		},
	})
	return (
		<EntryCard title={`Join ${invitation.organizationName}`} note={`You were invited as ${invitation.role}.`}>
			<form className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				<Field label="E-mail" value={invitation.email} isReadOnly autoComplete="username" hint="You sign in with this address." />
				<Field {...form.bind('name')} label="Your name" autoComplete="name" autoFocus />
				<PasswordField {...form.bind('password')} label="Password" hint="At least 12 characters." autoComplete="new-password" />
				<Button type="submit" look="primary" isPending={form.isPending}>
					Join
				</Button>
			</form>
		</EntryCard>
	)
}
