import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { settingsPages } from '../api/addresses.ts'
import { useSession } from '../api/session.ts'
import { OnlyFor } from '../forms/only-for.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Tabs } from '../ui/tabs.tsx'

interface SettingsPageProps {
	readonly title: string
	/** What stands before the title, such as the way back to the list. */
	readonly above?: ReactNode
	readonly actions?: ReactNode
	/** Whether members see the page as well. */
	readonly isForAll?: boolean
	readonly children: ReactNode
}

const active = { 'aria-current': 'page' } as const

/** What all pages of the settings have around them; a person sees the places that their role opens. */
export function SettingsPage({ title, above, actions, isForAll = false, children }: SettingsPageProps) {
	const isManager = useSession().is('manager')
	return (
		<>
			<PageHeader {...{ title, above, actions }} />
			<Tabs label="Settings">
				{settingsPages
					.filter((page) => isManager || page.isForAll)
					.map(({ to, label }) => (
						<Link key={to} to={to} activeProps={active}>
							{label}
						</Link>
					))}
			</Tabs>
			{isForAll ? children : <OnlyFor need="manager">{children}</OnlyFor>}
		</>
	)
}
