import { call, useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { words } from '../../format/names.ts'
import { usePlainForm } from '../../forms/use-plain-form.ts'
import { UserUpdate } from '../../generated/fields.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/card.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.ts'
import '../../forms/plain-form.css'

export function NameForm() {
	const { personId, name, email, role, organization } = useSession()
	const { mutateAsync } = useWrite('users.update')
	const form = usePlainForm({
		values: { name },
		rules: { name: UserUpdate.name },
		send: async (values) => {
			const { version } = await call('users.get', personId)
			await mutateAsync([personId, values, { ifMatch: version }])
			toast('Your name was saved')
		},
	})
	return (
		<Card title={organization.name}>
			<Facts
				facts={[
					['You sign in with', email],
					['Role', words(role)],
				]}
			/>
			<form className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				<Field {...form.bind('name')} label="Your name" autoComplete="name" hint="As others see it." />
				<div>
					<Button type="submit" isPending={form.isPending} isDisabled={form.values.name === name}>
						Save name
					</Button>
				</div>
			</form>
		</Card>
	)
}
