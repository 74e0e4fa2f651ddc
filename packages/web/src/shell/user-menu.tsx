import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { ChevronsUpDown, Keyboard, LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { sessionQuery } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { applyTheme, currentTheme, type Theme } from '../ui/theme.ts'
import './user-menu.css'

const themes: readonly [Theme, string, typeof Sun][] = [
	['system', 'Theme of the system', Monitor],
	['light', 'Light', Sun],
	['dark', 'Dark', Moon],
]

export default function UserMenu({ onKeys }: { onKeys: () => void }) {
	const { data } = useQuery(sessionQuery)
	const [theme, setTheme] = useState(currentTheme)
	const { navigate } = useRouter()
	const take = (chosen: Theme) => {
		applyTheme(chosen)
		setTheme(chosen)
	}
	const name = data?.name ?? 'Account'
	return (
		<Menu
			label="Account"
			actions={[
				...themes.map(([id, label, Icon]) => ({
					id,
					label,
					icon: <Icon />,
					note: id === theme ? '✓' : undefined,
					onAction: () => take(id),
				})),
				{ id: 'keys', label: 'Keys', icon: <Keyboard />, note: '?', onAction: onKeys },
				{
					id: 'out',
					label: 'Sign out',
					icon: <LogOut />,
					// Asks first when something is not saved, as every way out of a form.
					onAction: () => void navigate({ to: '/sign-in', state: { isSigningOut: true }, replace: true }),
				},
			]}
		>
			<Button look="quiet">
				<span className="me-name">
					<span className="me-mark" aria-hidden="true">
						{[...name][0]}
					</span>
					<span className="me-text">{name}</span>
					<ChevronsUpDown aria-hidden="true" />
				</span>
			</Button>
		</Menu>
	)
}
