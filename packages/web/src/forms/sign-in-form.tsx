import { useQuery } from '@tanstack/react-query'
import { describe, isRateLimited } from '../api/errors.ts'
import { call, read } from '../api/query.ts'
import { enter } from '../api/session.ts'
import { SignIn } from '../generated/fields.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { PasswordField } from '../ui/password-field.tsx'
import { usePlainForm } from './use-plain-form.ts'
import '../ui/button.css'
import './plain-form.css'

interface SignInFormProps {
	/** The address of who was here before. */
	readonly email?: string
	/** Where the provider leads back to; absent where this page stays, and another tab goes there. */
	readonly returnTo?: string
	readonly onSignedIn: (personId: string) => void
}

const tooMany = 'Too many wrong passwords for this address'

const { email: emailRules, password: passwordRules } = SignIn

export function SignInForm({ email = '', returnTo, onSignedIn }: SignInFormProps) {
	const form = usePlainForm({
		values: { email, password: '' },
		rules: { email: emailRules, password: passwordRules },
		send: async (values) => onSignedIn(await enter(call('session.create', values))),
		explain: (error) => ({ ...describe(error), ...(isRateLimited(error) && { title: tooMany }), requestId: undefined }),
	})
	return (
		<form className="plain-form" noValidate onSubmit={form.submit}>
			{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
			<Field {...form.bind('email')} label="E-mail" type="email" autoComplete="username" autoFocus={email === ''} />
			<PasswordField {...form.bind('password')} label="Password" autoComplete="current-password" autoFocus={email !== ''} />
			<Button type="submit" look="primary" isPending={form.isPending}>
				Sign in
			</Button>
			<SingleSignOn returnTo={returnTo} />
		</form>
	)
}

/** The way to the server's OpenID Connect provider, where it has one. */
function SingleSignOn({ returnTo }: Pick<SignInFormProps, 'returnTo'>) {
	const { data: setup } = useQuery({ ...read('setup.get'), retry: false })
	if (!setup?.openIdConnect) return null
	// Another tab tells this one who has signed in.
	const target = returnTo === undefined ? { target: '_blank', rel: 'noopener' } : {}
	return (
		<a className="button plain" href={`/openid/sign-in?${new URLSearchParams({ returnTo: returnTo ?? '/' })}`} {...target}>
			<span>Sign in with single sign-on</span>
		</a>
	)
}
