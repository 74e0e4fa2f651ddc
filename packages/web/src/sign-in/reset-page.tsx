import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { isNotFound } from '../api/errors.ts'
import { call } from '../api/query.ts'
import { usePlainForm } from '../forms/use-plain-form.ts'
import { PasswordReset, PasswordSet } from '../generated/fields.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { PasswordField } from '../ui/password-field.tsx'
import { EntryCard } from './entry-card.tsx'
import '../forms/plain-form.css'

const toSignIn = <Link to="/sign-in">Back to sign-in</Link>

/** With the secret of a link it sets a password, without it asks for the link. */
export default function ResetPage() {
	const [token, setToken] = useState(() => location.hash.slice(1))
	return token === '' ? <AskForLink /> : <SetPassword token={token} onOther={() => setToken('')} />
}

function AskForLink() {
	const [isSent, setSent] = useState(false)
	const form = usePlainForm({
		values: { email: '' },
		rules: PasswordReset,
		send: async (values) => {
			await call('session.password.reset', values)
			setSent(true)
		},
	})
	if (isSent)
		return (
			<EntryCard
				title="Look at your mail"
				note={`If somebody signs in with ${form.values.email}, a link to set a new password is on its way. It works for an hour.`}
				below={toSignIn}
			/>
		)
	return (
		<EntryCard title="Forgot the password?" note="We send you a link to set a new one." below={toSignIn}>
			<form className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				<Field {...form.bind('email')} label="E-mail" type="email" autoComplete="username" autoFocus />
				<Button type="submit" look="primary" isPending={form.isPending}>
					Send the link
				</Button>
			</form>
		</EntryCard>
	)
}

function SetPassword({ token, onOther }: { token: string; onOther: () => void }) {
	const [isSet, setSet] = useState(false)
	const form = usePlainForm({
		values: { password: '' },
		rules: { password: PasswordSet.password },
		send: async (values) => {
			await call('session.password.set', { token, ...values })
			history.replaceState(history.state, '', location.pathname)
			setSet(true)
		},
		explain: (error) =>
			isNotFound(error)
				? { title: 'The link no longer works', advice: 'It works once, for an hour.', requestId: undefined, isRepeatable: false }
				: undefined,
	})
	if (isSet)
		return (
			<EntryCard
				title="The password is set"
				note="Wherever you were signed in, you are no longer."
				below={<Link to="/sign-in">Sign in</Link>}
			/>
		)
	return (
		<EntryCard
			title="Set a new password"
			below={
				<Button look="quiet" onPress={onOther}>
					Ask for another link
				</Button>
			}
		>
			<form className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				<PasswordField
					{...form.bind('password')}
					label="New password"
					hint="At least 12 characters."
					autoComplete="new-password"
					autoFocus
				/>
				<Button type="submit" look="primary" isPending={form.isPending}>
					Set the password
				</Button>
			</form>
		</EntryCard>
	)
}
