import { useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { usePlainForm } from '../../forms/use-plain-form.ts'
import { PasswordChange } from '../../generated/fields.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { toast } from '../../ui/toast.ts'
import '../../forms/plain-form.css'

const blank = { currentPassword: '', password: '' }

export function PasswordForm() {
	const { email } = useSession()
	const client = useQueryClient()
	const form = usePlainForm({
		values: blank,
		rules: PasswordChange,
		send: async (values) => {
			await call('session.password.change', values)
			form.setValues(blank)
			toast('The password was changed')
			await client.invalidateQueries({ queryKey: ['sessions'] })
		},
	})
	return (
		<Card title="Password">
			<form className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				{/* So that password managers know whose it is. */}
				<input className="hidden" type="text" autoComplete="username" value={email} readOnly tabIndex={-1} aria-hidden="true" />
				<PasswordField {...form.bind('currentPassword')} label="Current password" autoComplete="current-password" />
				<PasswordField
					{...form.bind('password')}
					label="New password"
					hint="At least 12 characters. It signs you out everywhere else."
					autoComplete="new-password"
				/>
				<div>
					<Button type="submit" isPending={form.isPending}>
						Change password
					</Button>
				</div>
			</form>
		</Card>
	)
}
