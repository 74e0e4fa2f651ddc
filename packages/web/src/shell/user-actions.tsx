import { useRouter } from '@tanstack/react-router'
import { Keyboard, LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import MenuList from '../ui/menu-list.tsx'
import { applyTheme, currentTheme, type Theme } from '../ui/theme.ts'
import type { OpenList } from '../ui/use-menu.ts'

const themes: readonly [Theme, string, typeof Sun][] = [
	['system', 'Theme of the system', Monitor],
	['light', 'Light', Sun],
	['dark', 'Dark', Moon],
]

/** What a person can do anywhere, in the menu of their name. */
export default function UserActions({ onKeys, ...list }: OpenList & { onKeys: () => void }) {
	const [theme, setTheme] = useState(currentTheme)
	const { navigate } = useRouter()
	const take = (chosen: Theme) => {
		applyTheme(chosen)
		setTheme(chosen)
	}
	return (
		<MenuList
			{...list}
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
		/>
	)
}
