import { useQuery } from '@tanstack/react-query'
import { failureOf } from '../../api/pages.ts'
import { read } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { SettingsPage } from '../settings-page.tsx'
import { OrganizationFacts } from './facts.tsx'
import { OrganizationForm } from './form.tsx'

export default function OrganizationPage() {
	const { may } = useSession()
	const organization = useQuery(read('organization.get'))
	const Shown = may('organization:write') ? OrganizationForm : OrganizationFacts
	return (
		<SettingsPage title="Organization">
			<Loaded data={organization.data} failure={failureOf(organization)}>
				{(data) => <Shown organization={data} />}
			</Loaded>
		</SettingsPage>
	)
}
