import { useSession } from '../../api/session.ts'
import { Card } from '../../ui/card.tsx'
import { Sessions } from '../sessions.tsx'
import { SettingsPage } from '../settings-page.tsx'
import { NameForm } from './name-form.tsx'
import { PasswordForm } from './password-form.tsx'
import { Preferences } from './preferences.tsx'

export default function AccountPage() {
	const { personId } = useSession()
	return (
		<SettingsPage title="My account" isForAll>
			<div className="columns">
				<div className="stack">
					<NameForm />
					<PasswordForm />
				</div>
				<div className="stack">
					<Card title="Signed in on">
						<Sessions userId={personId} />
					</Card>
					<Preferences />
				</div>
			</div>
		</SettingsPage>
	)
}
