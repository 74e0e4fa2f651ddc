import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { describe, isNotFound } from '../api/errors.ts'
import { call, read } from '../api/query.ts'
import { enter } from '../api/session.ts'
import { usePlainForm } from '../forms/use-plain-form.ts'
import { SetupCreate } from '../generated/fields.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { PasswordField } from '../ui/password-field.tsx'
import { EntryCard } from './entry-card.tsx'
import { goIn } from './go-in.ts'
import '../forms/plain-form.css'

const ownTimeZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

const toSignIn = <Link to="/sign-in">Sign in</Link>
const wrongLink = 'Open the whole link that the server printed when it started.'

export default function SetupPage() {
	const [token] = useState(() => location.hash.slice(1))
	const { data, error } = useQuery(read('setup.get'))
	if (error)
		return (
			<EntryCard title="Set up Remit">
				<ErrorPanel {...describe(error)} />
			</EntryCard>
		)
	if (!data) return <EntryCard title="Set up Remit" />
	if (!data.isOpen)
		return <EntryCard title="Remit is set up" note="Somebody can sign in already. Ask them to invite you." below={toSignIn} />
	if (token === '') return <EntryCard title="The link is not complete" note={wrongLink} />
	return <SetupForm token={token} organizationName={data.organizationName} />
}

function SetupForm({ token, organizationName }: { token: string; organizationName: string | null }) {
	const isNew = organizationName === null
	const { name, email, password } = SetupCreate
	const form = usePlainForm({
		values: { organizationName: '', name: '', email: '', password: '' },
		rules: { ...(isNew && { organizationName: name }), name, email, password },
		send: async ({ organizationName: organization, ...person }) => {
			const personId = await enter(call('setup.create', { token, ...person, ...(isNew && { organizationName: organization }) }))
			// It can be corrected in the settings, as can one that stays UTC.
			if (isNew) await call('organization.update', { timeZone: ownTimeZone() }).catch(() => {})
			goIn(personId)
		},
		explain: (error) =>
			isNotFound(error)
				? { title: 'The link does not work', advice: wrongLink, requestId: undefined, isRepeatable: false }
				: undefined,
	})
	return (
		<EntryCard
			title="Set up Remit"
			note={isNew ? 'Name your organization and become its first person.' : `You become the first admin of ${organizationName}.`}
		>
			<form className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				{isNew && (
					<Field
						{...form.bind('organizationName')}
						label="Organization"
						hint="As your invoices show it."
						autoComplete="organization"
						autoFocus
					/>
				)}
				<Field {...form.bind('name')} label="Your name" autoComplete="name" autoFocus={!isNew} />
				<Field {...form.bind('email')} label="E-mail" type="email" autoComplete="username" />
				<PasswordField {...form.bind('password')} label="Password" hint="At least 12 characters." autoComplete="new-password" />
				<Button type="submit" look="primary" isPending={form.isPending}>
					Set up
				</Button>
			</form>
		</EntryCard>
	)
}
